#include "proxy/server.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <thread>

#include "proxy/capacity.hpp"
#include "proxy/replication.hpp"
#include "proxy/request_places.hpp"
#include "proxy/rule_hits.hpp"

namespace garner::proxy {

namespace asio = net::asio;

namespace {

AccessLog::LogTarget target_of(Log const& log) { return {log.access, log.format}; }

/// At least one complete head fits.
Bytes heads_of_worker(Limits const& limits, std::size_t workers) {
    return std::max<Bytes>(limits.heads / workers, 2 * limits.head.bytes);
}

/// Idle connections to origins leave descriptors to clients.
net::WorkerOptions within(Capacity const& capacity, net::WorkerOptions net, std::size_t workers) {
    auto const most = std::max<std::size_t>(capacity.idle_to_origins / workers, 1);
    net.pool.idle_total = static_cast<std::uint32_t>(std::min<std::size_t>(net.pool.idle_total, most));
    return net;
}

void configure_line(Shared& shared, Options const& options) {
    shared.shares.configure(options.share);
    shared.caps.configure(options.caps);
    shared.quotas.configure(options.quotas);
}

std::uint32_t connections_allowed(Capacity const& capacity, Options const& options) {
    return std::min(capacity.connections, options.limits.connections);
}

}   // namespace

Result<std::unique_ptr<Server>> Server::make(ServerOptions const& server, std::shared_ptr<Options const> options,
                                             cache::Cache& cache) {
    std::unique_ptr<Server> made(new Server(std::move(options), cache, server.name));
    if (auto const opened = made->open(server); !opened) return opened.fault();
    return made;
}

Server::Server(std::shared_ptr<Options const> options, cache::Cache& cache, std::string name)
    : process_name_(name.empty() ? unique_via_name() : std::move(name)), options_(std::move(options)), cache_(cache) {}

Server::~Server() = default;

Result<void> Server::open(ServerOptions const& server) {
    auto const workers = server.workers ? server.workers : std::max(1u, std::thread::hardware_concurrency());
    auto const options = completed(*this->options(), workers);
    {
        MutexLock const lock(options_mutex_);
        options_ = options;
    }
    cache_.invalidations.configure(options->group);
    configure_line(shared_, *options);
    auto const capacity = capacity_of(raise_file_limit());
    shared_.connections.limit(connections_allowed(capacity, *options));
    shared_.refreshes_max = capacity.refreshes;
    shared_.pipes = capacity.pipes;
    shared_.attempts_max = capacity.attempts;
    auto network = net::Network::make(within(capacity, server.net, workers), server.tls);
    if (!network) return network.fault();
    network_ = *std::move(network);
    if (server.what_if) sampling_ = std::make_unique<Sampling>(workers);
    for (unsigned number = 0; number < workers; ++number) add_worker(number, workers);
    if (auto const joined = join_mesh(server.mesh, server.handed); !joined) return joined;
    listening_ = std::make_unique<Listening>(
        shared_.workers,
        Listening::Given{.inherited = server.inherited, .handed = server.handed, .ticket_keys = server.ticket_keys});
    auto const listens = listening_->prepare(options->listen);
    if (!listens) return listens.fault();
    (*listens)();
    own_ = std::make_unique<OwnPlaces>(shared_.workers);
    block_own_places(server.also_closed);
    mesh_->set_own([this] { return own_->now(); });
    return {};
}

void Server::add_worker(unsigned number, std::size_t workers) {
    auto one = std::make_unique<PerWorker>();
    auto const options = this->options();
    one->worker = network_->make_worker(number);
    one->places = std::make_shared<RequestPlaces>();
    one->services.reset(new Services{*one->worker, cache_, shared_, nullptr, one->counters, *one->places, options});
    one->services->logins = logins_.get();
    one->services->top = &one->top;
    one->recent = std::make_unique<RecentRequests>(workers);
    one->services->recent = one->recent.get();
    one->services->heads.max = heads_of_worker(options->limits, workers);
    shared_.workers.push_back(one->services.get());
    if (sampling_) one->services->sampler = &sampling_->of_worker(number);
    workers_.push_back(std::move(one));
}

Result<void> Server::join_mesh(icp::Options const& options, std::shared_ptr<net::HandedSockets> handed) {
    auto mesh = icp::Mesh::make(options, workers(), cache_, std::move(handed));
    if (!mesh) return mesh.fault();
    mesh_ = *std::move(mesh);
    for (auto const& one : workers_) {
        one->services->mesh = mesh_.get();
        one->services->agent = &mesh_->agent(one->worker->number);
    }
    return {};
}

void Server::use_group(group::Group& group) {
    group_ = &group;
    replication_ = std::make_unique<Replication>(shared_.workers, group);
    group.when_offered([this](std::string const& url) { replication_->take(url); });
    shared_.replication = replication_.get();
    for (auto const& one : workers_) one->services->group = group_;
}

std::vector<net::Worker*> Server::workers() const {
    std::vector<net::Worker*> all;
    for (auto const& one : workers_) all.push_back(one->worker.get());
    return all;
}

/// `others`: endpoints of this process that are no listeners of the proxy.
void Server::block_own_places(std::vector<IpEndpoint> others) {
    auto const listening = listening_->endpoints();
    others.insert(others.begin(), listening.begin(), listening.end());
    own_->listen_on(std::move(others));
}

/// The listening sockets come last: if something else fails, no client has connected to a new one.
Result<Prepared> Server::prepare(ServerOptions const& fresh, std::shared_ptr<Options const> given) {
    auto const options = completed(*given, workers_.size());
    auto const capacity = capacity_of(raise_file_limit());
    auto network = network_->prepare(within(capacity, fresh.net, workers_.size()), fresh.tls, workers());
    if (!network) return network.fault();
    auto intercepts = Interception::make(options->bump, interception().get());
    if (!intercepts) return intercepts.fault();
    auto listens = listening_->prepare(options->listen);
    if (!listens) return listens.fault();
    return Prepared([this, options, most = connections_allowed(capacity, *options), network = *std::move(network),
                     intercepts = *std::move(intercepts), listens = *std::move(listens), others = fresh.also_closed] {
        shared_.connections.limit(most);
        use(options);
        network();
        use_interception(intercepts);
        listens();
        block_own_places(others);
        if (shared_.connections.is_lowered()) listening_->apply_limit();
    });
}

/// Options without a name for Via get that of this process. Rules that have not changed keep their counters.
std::shared_ptr<Options const> Server::completed(Options options, std::size_t workers) const {
    if (options.via_name.empty()) options.via_name = process_name_;
    auto const former = this->options();
    bool const keeps_hits = former->rule_hits && are_same_rules(former->access, options.access);
    options.rule_hits = keeps_hits ? former->rule_hits : std::make_shared<RuleHits>(options.access.rules().size(), workers);
    return std::make_shared<Options const>(std::move(options));
}

void Server::use(std::shared_ptr<Options const> const& options) {
    {
        MutexLock const lock(options_mutex_);
        options_ = options;
    }
    cache_.invalidations.configure(options->group);
    configure_line(shared_, *options);
    for (auto& one : workers_)
        asio::post(one->worker->io, [services = one->services.get(), options, workers = workers_.size()] {
            services->options = options;
            services->heads.max = heads_of_worker(options->limits, workers);
        });
}

Result<void> Server::open_log() {
    auto const options = this->options();
    AccessLog::Options log;
    log.place = target_of(options->log);
    log.workers = static_cast<unsigned>(workers_.size());
    auto opened = AccessLog::open(log);
    if (!opened) return opened.fault();
    log_ = *std::move(opened);
    for (auto& one : workers_) one->services->log = log_.get();
    return {};
}

Result<Prepared> Server::prepare_log(Log const& fresh) {
    auto const prepared = log_->prepare(target_of(fresh));
    if (!prepared) return prepared.fault();
    return Prepared([this, output = *prepared] {
        if (!log_->move_to(output)) return;
        for (auto& one : workers_)
            asio::post(one->worker->io, [log = log_.get(), number = one->worker->number, output] { log->turn(number, output); });
    });
}

Result<void> Server::open_interception() {
    auto made = Interception::make(options()->bump, nullptr);
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
    own_->start();
    mesh_->start();
    listening_->start();
    for (auto& one : workers_) one->worker->start();
}

std::shared_ptr<Options const> Server::options() const {
    MutexLock const lock(options_mutex_);
    return options_;
}

std::vector<Counters const*> Server::counters() const {
    std::vector<Counters const*> all;
    for (auto const& one : workers_) all.push_back(&one->counters);
    return all;
}

bool Server::finish() {
    constexpr milliseconds patience{1'000};
    for (auto& one : workers_) asio::post(one->worker->io, [one = one.get()] { one->services->mesh->stop(one->worker->number); });
    own_->stop();
    for (auto& one : workers_) one->worker->finish();
    bool over = true;
    for (auto& one : workers_) over &= one->worker->join(patience);
    return over;
}

}   // namespace garner::proxy
