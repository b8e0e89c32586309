#include "proxy/server.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <thread>

#include "net/address.hpp"
#include "proxy/inherited_sockets.hpp"
#include "proxy/request_places.hpp"
#include "proxy/via.hpp"

namespace garner::proxy {

namespace asio = net::asio;

namespace {

std::string text_of(net::TcpEndpoint const& endpoint) {
    auto host = endpoint.address().to_string();
    return (endpoint.address().is_v6() ? "[" + host + "]" : host) + ":" + std::to_string(endpoint.port());
}

/// At least one complete head fits.
Bytes heads_of_worker(Limits const& limits, std::size_t workers) {
    return std::max<Bytes>(limits.heads / workers, 2 * limits.head.bytes);
}

}   // namespace

Result<std::unique_ptr<Server>> Server::make(ServerOptions const& server, std::shared_ptr<Options const> options,
                                             cache::Cache& cache) {
    std::unique_ptr<Server> made(new Server(server, std::move(options), cache));
    if (auto const opened = made->open(); !opened) return opened.fault();
    return made;
}

Server::~Server() = default;

Result<void> Server::open() {
    auto workers = server_.workers ? server_.workers : std::max(1u, std::thread::hardware_concurrency());
    auto const options = this->options();
    shared_.via_name = options->via_name.empty() ? unique_via_name() : options->via_name;
    limit_connections();
    auto tls = net::TlsContext::make(server_.tls);
    if (!tls) return tls.fault();
    names_ = std::make_unique<net::NameCache>(server_.net.dns);
    auto net = server_.net;
    net.pool.idle_total = std::min(net.pool.idle_total, std::max(idle_to_origins_max_ / workers, 1u));
    if (server_.what_if) sampling_ = std::make_unique<Sampling>(workers);
    for (unsigned number = 0; number < workers; ++number) {
        auto one = std::make_unique<PerWorker>();
        one->worker = std::make_unique<net::Worker>(number, *names_, *tls, net);
        one->places = std::make_shared<RequestPlaces>();
        one->services.reset(new Services{*one->worker, cache_, shared_, nullptr, one->counters, *one->places, options});
        one->services->logins = logins_.get();
        one->services->heads.max = heads_of_worker(options->limits, workers);
        shared_.workers.push_back(one->services.get());
        if (sampling_) one->services->sampler = &sampling_->of_worker(number);
        workers_.push_back(std::move(one));
    }
    if (auto const joined = join_mesh(); !joined) return joined;
    auto contexts = make_tls(options->listen);
    if (!contexts) return contexts.fault();
    {
        MutexLock const lock(options_mutex_);
        tls_ = *contexts;
    }
    for (std::size_t i = 0; i < options->listen.size(); ++i)
        if (auto const opened = open_listener(i, (*contexts)[i]); !opened) return opened;
    if (auto const used = all_are_used(server_.inherited, listening_); !used) return used;
    close_own_places();
    return {};
}

Result<void> Server::join_mesh() {
    std::vector<net::Worker*> workers;
    for (auto const& one : workers_) workers.push_back(one->worker.get());
    auto mesh = icp::Mesh::make(server_.mesh, workers, cache_);
    if (!mesh) return mesh.fault();
    mesh_ = *std::move(mesh);
    for (auto const& one : workers_) {
        one->services->mesh = mesh_.get();
        one->services->agent = &mesh_->agent(one->worker->number);
    }
    return {};
}

Result<void> Server::open_listener(std::size_t index, std::shared_ptr<net::TlsServerContext const> const& tls) {
    auto const options = this->options();
    auto const& listen = options->listen[index];
    net::Error error;
    auto address = asio::ip::make_address(listen.address, error);
    net::TcpEndpoint endpoint(address, listen.port);
    AcceleratedOrigin const* origin = nullptr;
    if (listen.origin) {
        auto made = std::make_unique<AcceleratedOrigin>();
        made->text = *listen.origin;
        http::UriError refused;
        auto uri = http::parse_absolute(made->text, refused);
        if (!uri) return Fault{.what = refused.refusal, .where = "listen[" + std::to_string(index) + "].origin"};
        made->uri = *uri;
        origin = made.get();
        origins_.push_back(std::move(made));
    }
    if (error) return Fault{.what = error.message(), .where = "listen[" + std::to_string(index) + "].address"};
    auto const inherited = inherited_socket(server_.inherited, endpoint);
    auto const is_free = inherited ? Result<void>() : port_is_free(endpoint);
    if (!is_free) return is_free;
    for (auto& one : workers_) {
        auto acceptor = inherited ? adopt(one->worker->io, *inherited, endpoint) : listen_on(one->worker->io, endpoint);
        if (!acceptor) return acceptor.fault();
        endpoint = acceptor->local_endpoint();   // port 0 becomes the port that all workers share
        one->listeners.push_back(
            std::make_unique<Listener>(*one->services, std::move(*acceptor), origin, tls, inherited.has_value()));
    }
    addresses_.push_back(text_of(endpoint));
    listen_addresses_.push_back({addresses_.back(), origin, tls != nullptr});
    listening_.push_back({net::to_ip(endpoint.address()), endpoint.port()});
    return {};
}

void Server::close_own_places() {
    for (auto const& place : server_.also_closed) listening_.push_back(place);
    watch_ = std::make_unique<net::AddressWatch>(workers_.front()->worker->io, [this] { return note_own_addresses(); });
    note_own_addresses();
}

std::shared_ptr<http::OwnAddresses const> Server::own() const {
    MutexLock const lock(options_mutex_);
    return own_;
}

/// False when the addresses cannot be read. The known addresses stay blocked then.
bool Server::note_own_addresses() {
    auto const interfaces = net::interface_addresses();
    if (!interfaces && own()) return false;
    auto own =
        std::make_shared<http::OwnAddresses const>(http::OwnAddresses{interfaces.value_or(std::vector<IpAddress>()), listening_});
    {
        MutexLock const lock(options_mutex_);
        own_ = own;
    }
    for (auto& one : workers_) asio::post(one->worker->io, [services = one->services.get(), own] { services->own = own; });
    return interfaces.has_value();
}

/// A connection needs a descriptor, and usually one to an origin; a tunnel needs four more for its pipes, as long as enough
/// are left. Some are reserved for files, logs and DNS.
void Server::limit_connections() {
    constexpr rlim_t reserve = 256;
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        ::setrlimit(RLIMIT_NOFILE, &limit);
        ::getrlimit(RLIMIT_NOFILE, &limit);
    }
    auto possible = limit.rlim_cur > 2 * reserve ? (limit.rlim_cur - reserve) / 3 : std::max<rlim_t>(limit.rlim_cur / 4, 4);
    shared_.connections_max = static_cast<std::uint32_t>(std::min<rlim_t>(options()->limits.connections, possible));
    idle_to_origins_max_ = static_cast<std::uint32_t>(std::min<rlim_t>(possible / 2, UINT32_MAX));
    shared_.connections_reserve = std::clamp(shared_.connections_max / 8, 2u, 64u);
    shared_.refreshes_max = static_cast<std::uint32_t>(std::clamp<rlim_t>(possible / 64, 4, 64));
    shared_.pipes = limit.rlim_cur > 2 * reserve ? static_cast<std::int64_t>(possible / 2) : 0;
}

Result<void> Server::open_log() {
    auto const options = this->options();
    AccessLog::Options log;
    log.place = {options->log.access, options->log.format};
    log.workers = static_cast<unsigned>(workers_.size());
    auto opened = AccessLog::open(log);
    if (!opened) return opened.fault();
    log_ = *std::move(opened);
    for (auto& one : workers_) one->services->log = log_.get();
    return {};
}

Result<Prepared> Server::prepare_log(Log const& fresh) {
    auto const prepared = log_->prepare({fresh.access, fresh.format});
    if (!prepared) return prepared.fault();
    return Prepared([this, output = *prepared] {
        if (!log_->move_to(output)) return;
        for (auto& one : workers_)
            asio::post(one->worker->io, [log = log_.get(), number = one->worker->number, output] { log->turn(number, output); });
    });
}

Result<void> Server::open_interception() {
    auto made = make_interception(options()->bump);
    if (!made) return made.fault();
    for (auto& one : workers_) one->services->interception = *made;
    MutexLock const lock(options_mutex_);
    interception_ = *std::move(made);
    return {};
}

void Server::use_interception(std::shared_ptr<Interception const> interception) {
    for (auto& one : workers_)
        asio::post(one->worker->io, [services = one->services.get(), interception] { services->interception = interception; });
    MutexLock const lock(options_mutex_);
    interception_ = std::move(interception);
}

std::shared_ptr<Interception const> Server::interception() const {
    MutexLock const lock(options_mutex_);
    return interception_;
}

void Server::start() {
    watch_->start();
    mesh_->start();
    for (auto& one : workers_) {
        for (auto& listener : one->listeners) listener->start();
        one->worker->start();
    }
}

std::shared_ptr<Options const> Server::options() const {
    MutexLock const lock(options_mutex_);
    return options_;
}

void Server::reconfigure(std::shared_ptr<Options const> options) {
    {
        MutexLock const lock(options_mutex_);
        options_ = options;
    }
    for (auto& one : workers_)
        asio::post(one->worker->io, [services = one->services.get(), options, workers = workers_.size()] {
            services->options = options;
            services->heads.max = heads_of_worker(options->limits, workers);
        });
}

void Server::use_tls(TlsContexts contexts) {
    for (auto& one : workers_)
        asio::post(one->worker->io, [one = one.get(), contexts] {
            for (std::size_t i = 0; i < contexts.size(); ++i) one->listeners[i]->use_tls(contexts[i]);
        });
    MutexLock const lock(options_mutex_);
    tls_ = std::move(contexts);
}

std::vector<std::shared_ptr<net::Certificate const>> Server::certificates() const {
    std::vector<std::shared_ptr<net::Certificate const>> all;
    {
        MutexLock const lock(options_mutex_);
        for (auto const& context : tls_)
            if (context) all.insert(all.end(), context->certificates().begin(), context->certificates().end());
    }
    auto const peer_table = mesh_->peer_table();
    for (auto const& peer : peer_table->peers)
        if (auto const tls = peer->tls(); tls && tls->own_certificate()) all.push_back(tls->own_certificate());
    return all;
}

std::vector<Counters const*> Server::counters() const {
    std::vector<Counters const*> all;
    for (auto const& one : workers_) all.push_back(&one->counters);
    return all;
}

void Server::on_each_worker(void (*task)(PerWorker&)) {
    for (auto& one : workers_) asio::post(one->worker->io, [task, one = one.get()] { task(*one); });
}

void Server::stop_listening() {
    milliseconds handshakes{0};
    for (auto const& one : workers_)
        for (auto const& listener : one->listeners) {
            listener->drop_new();
            handshakes = std::max(handshakes, listener->handshake_time());
        }
    std::this_thread::sleep_for(handshakes);
    on_each_worker([](PerWorker& one) {
        for (auto& listener : one.listeners) listener->close();
    });
}

bool Server::finish() {
    constexpr milliseconds patience{1'000};
    on_each_worker([](PerWorker& one) { one.services->mesh->stop(one.worker->number); });
    watch_->stop();
    for (auto& one : workers_) one->worker->finish();
    bool over = true;
    for (auto& one : workers_) over &= one->worker->join(patience);
    return over;
}

}   // namespace garner::proxy
