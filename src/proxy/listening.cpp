#include "proxy/listening.hpp"

#include <algorithm>
#include <iterator>
#include <thread>

#include "net/address.hpp"
#include "net/original_destination.hpp"
#include "proxy/inherited_sockets.hpp"

namespace garner::proxy {

namespace asio = net::asio;

namespace {

Fault at_key(std::size_t index, char const* key, Fault fault) {
    fault.where = "listen[" + std::to_string(index) + "]." + key + (fault.where.empty() ? "" : ": " + fault.where);
    return fault;
}

/// Null for a forward proxy.
Result<std::shared_ptr<FixedOrigin const>> accelerated_origin(Listen const& listen) {
    if (!listen.origin) return std::shared_ptr<FixedOrigin const>();
    auto origin = std::make_shared<FixedOrigin>();
    origin->text = *listen.origin;
    http::UriError refused;
    auto const uri = http::parse_absolute(origin->text, refused);
    if (!uri) return Fault{.what = refused.refusal};
    origin->uri = *uri;
    origin->proxy_protocol = listen.origin_proxy_protocol;
    return std::shared_ptr<FixedOrigin const>(std::move(origin));
}

/// "::" if the address is not valid: opening it reports that.
IpEndpoint configured_endpoint(Listen const& listen) { return {parse_ip(listen.address).value_or(IpAddress{}), listen.port}; }

/// With the port that the kernel has chosen, where the configuration has 0.
std::shared_ptr<ListenPoint const> at_endpoint(ListenPoint point, IpEndpoint const& endpoint) {
    point.port = endpoint.port;
    point.endpoint = endpoint;
    return std::make_shared<ListenPoint const>(std::move(point));
}

// The names of sockets that are handed over.
constexpr char const* listen_kind = "listen";
constexpr char const* inherited_kind = "inherited";   // of the service manager

constexpr char const* mend_of_tproxy =
    "tproxy needs the capability CAP_NET_ADMIN when the address is opened: start the proxy as root or with this capability";

bool is_transparent(net::Intercept how) { return how == net::Intercept::tproxy; }

Result<void> may_intercept(std::span<std::shared_ptr<Listener> const> sockets, net::Intercept how) {
    for (auto const& socket : sockets)
        if (auto const error = net::may_set_transparent(socket->descriptor(), is_transparent(how)))
            return Fault{error.message(), mend_of_tproxy};
    return {};
}

/// The kernel lets only one user share a port.
constexpr char const* mend_of_own_port =
    "this process listens on this port, which it may have opened as root: restart, or choose another port";

}   // namespace

Listening::Listening(std::span<Services* const> workers, Given given)
    : workers_(workers.begin(), workers.end()), inherited_(std::move(given.inherited)), handed_(std::move(given.handed)),
      ticket_keys_(given.ticket_keys ? std::move(given.ticket_keys) : std::make_shared<net::TicketKeys>(steady_now())) {}

Result<Prepared> Listening::prepare(std::span<Listen const> listen) {
    auto const contexts = make_tls_contexts(listen, ticket_keys_);
    if (!contexts) return contexts.fault();
    std::erase_if(retired_, [](Retired const& one) { return one.socket.expired(); });
    auto const running = open_now();
    auto const plan = plan_of(running, listen);
    std::vector<IpEndpoint> after;
    auto const change = std::make_shared<Change>();
    for (std::size_t i = 0; i < listen.size(); ++i) {
        auto const* stays = plan.wanted[i] == ListenPlan::opened ? nullptr : &running[plan.wanted[i]];
        if (auto const added = add(*change, stays, i, listen[i], (*contexts)[i]); !added) return added.fault();
        after.push_back(change->all.back().endpoint);
    }
    if (auto const used = all_are_used(inherited_, after); !used) return used.fault();
    for (auto const index : plan.closed)
        for (auto const& socket : running[index].sockets) {
            change->closed.push_back(socket);
            change->retired.push_back({running[index].endpoint, socket});
        }
    return Prepared([this, change] { apply(*change); });
}

ListenPlan Listening::plan_of(std::span<Open const> running, std::span<Listen const> listen) {
    std::vector<IpEndpoint> before, wanted;
    for (auto const& one : running) before.push_back(one.configured);
    for (auto const& one : listen) wanted.push_back(configured_endpoint(one));
    return plan_listening(before, wanted);
}

/// `running`: null for a new address.
Result<void> Listening::add(Change& change, Open const* running, std::size_t index, Listen const& listen,
                            std::shared_ptr<net::TlsServerContext const> const& tls) {
    auto origin = accelerated_origin(listen);
    if (!origin) return at_key(index, "origin", origin.fault());
    ListenPoint const point{listen.port, *std::move(origin), tls, listen.proxy_protocol, listen.intercept};
    if (running) {
        if (auto const may = may_intercept(running->sockets, listen.intercept); !may)
            return at_key(index, "intercept", may.fault());
        change.all.push_back(*running);
        change.all.back().point = at_endpoint(point, running->endpoint);
        return {};
    }
    auto opened = open(listen, point, has_port_of(change, configured_endpoint(listen)));
    if (!opened) return at_key(index, "address", opened.fault());
    if (auto const may = may_intercept(opened->sockets, listen.intercept); !may) return at_key(index, "intercept", may.fault());
    change.opened.insert(change.opened.end(), opened->sockets.begin(), opened->sockets.end());
    change.all.push_back(*std::move(opened));
    return {};
}

Result<Listening::Open> Listening::open(Listen const& listen, ListenPoint const& point, bool is_own_port) const {
    net::Error error;
    net::TcpEndpoint endpoint(asio::ip::make_address(listen.address, error), listen.port);
    if (error) return Fault{.what = error.message()};
    Open made{.configured = configured_endpoint(listen), .endpoint = {}, .point = nullptr, .sockets = {}};
    auto const handed = open_handed(made, point);
    if (!handed) return handed.fault();
    if (*handed) return made;
    auto const inherited = inherited_socket(inherited_, endpoint);
    auto const is_free = inherited || is_own_port ? Result<void>() : port_is_free(endpoint);
    if (!is_free) return is_free.fault();
    for (auto* services : workers_) {
        auto& io = services->worker.io;
        auto acceptor = inherited ? adopt(io, *inherited, endpoint) : listen_on(io, endpoint);
        if (!acceptor && is_own_port) return Fault{acceptor.fault().what, mend_of_own_port, acceptor.fault().where};
        if (!acceptor) return acceptor.fault();
        endpoint = acceptor->local_endpoint();   // port 0 becomes the port that all workers share
        made.endpoint = {net::to_ip(endpoint.address()), endpoint.port()};
        if (!made.point) made.point = at_endpoint(point, made.endpoint);
        made.sockets.push_back(std::make_shared<Listener>(*services, *std::move(acceptor), made.point, inherited.has_value()));
    }
    return made;
}

/// True if the process whose place this one takes listens there.
Result<bool> Listening::open_handed(Open& made, ListenPoint const& point) const {
    if (!handed_) return false;
    auto const own = handed_->claim(listen_kind, made.configured);
    auto const at = own ? own : handed_->claim(inherited_kind, made.configured);
    if (!at) return false;
    made.endpoint = *at;
    made.point = at_endpoint(point, *at);
    net::TcpEndpoint const endpoint(net::to_asio(at->address), at->port);
    for (std::size_t i = 0; i < workers_.size(); ++i)
        for (int const descriptor : handed_->copies(own ? listen_kind : inherited_kind, *at, i, workers_.size())) {
            Acceptor acceptor(workers_[i]->worker.io);
            net::Error error;
            acceptor.assign(endpoint.protocol(), descriptor, error);
            if (error) return Fault{.what = error.message(), .where = "a listening socket of the running process"};
            made.sockets.push_back(std::make_shared<Listener>(*workers_[i], std::move(acceptor), made.point, !own));
        }
    return true;
}

/// True if a socket of this process, or of the one whose place it takes, would make port_is_free() fail.
bool Listening::has_port_of(Change const& change, IpEndpoint const& endpoint) const {
    auto const overlaps = [&](auto const& one) { return overlap(one.endpoint, endpoint); };
    auto const former = handed_ ? handed_->endpoints(listen_kind) : std::vector<IpEndpoint>();
    if (std::ranges::any_of(former, [&](auto const& one) { return overlap(one, endpoint); })) return true;
    auto const open = open_now();
    return std::ranges::any_of(open, overlaps) || std::ranges::any_of(change.all, overlaps) ||
           std::ranges::any_of(retired_, overlaps);
}

void Listening::apply(Change& change) {
    MutexLock const lock(mutex_);
    for (auto const& one : change.all)
        for (auto const& socket : one.sockets) {
            (void)net::set_transparent(socket->descriptor(), is_transparent(one.point->intercept));
            socket->use(one.point);
        }
    for (auto const& socket : change.opened)
        if (accepts_) socket->start();
    for (auto const& socket : change.closed) socket->retire();
    std::ranges::move(change.retired, std::back_inserter(retired_));
    open_.swap(change.all);
    change = Change();
}

void Listening::start() {
    accepts_ = true;
    handed_ = nullptr;
    for (auto const& one : open_now())
        for (auto const& socket : one.sockets) socket->start();
}

void Listening::stop() {
    milliseconds handshakes{0};
    auto const all = open_now();
    for (auto const& one : all)
        for (auto const& socket : one.sockets) {
            socket->drop_new();
            handshakes = std::max(handshakes, socket->handshake_time());
        }
    std::this_thread::sleep_for(handshakes);
    for (auto const& one : all)
        for (auto const& socket : one.sockets) socket->close();
}

void Listening::pause() {
    for (auto const& one : open_now())
        for (auto const& socket : one.sockets) socket->pause();
}

void Listening::resume() {
    for (auto const& one : open_now())
        for (auto const& socket : one.sockets) socket->resume();
}

std::vector<net::NamedSocket> Listening::sockets() const {
    std::vector<net::NamedSocket> named;
    for (auto const& one : open_now()) {
        std::size_t number = 0;
        for (auto const& socket : one.sockets)
            named.push_back(net::named_socket(socket->inherited() ? inherited_kind : listen_kind, one.endpoint, number++,
                                              socket->descriptor()));
    }
    return named;
}

void Listening::apply_limit() const {
    for (auto const& one : open_now())
        for (auto const& socket : one.sockets) socket->apply_limit();
}

std::vector<Listening::Open> Listening::open_now() const {
    MutexLock const lock(mutex_);
    return open_;
}

std::vector<ListenAddress> Listening::addresses() const {
    std::vector<ListenAddress> all;
    for (auto const& one : open_now())
        all.push_back({one.endpoint.text(), one.point->origin, one.point->tls, one.point->intercept});
    return all;
}

std::shared_ptr<ListenPoint const> Listening::point_at(IpEndpoint const& endpoint) const {
    for (auto const& one : open_now())
        if (one.endpoint == endpoint) return one.point;
    return nullptr;
}

std::vector<IpEndpoint> Listening::endpoints() const {
    std::vector<IpEndpoint> all;
    for (auto const& one : open_now()) all.push_back(one.endpoint);
    return all;
}

std::vector<ListenAddress> Listening::addresses_after(std::span<Listen const> listen, TlsContexts const& contexts) const {
    auto const running = open_now();
    auto const plan = plan_of(running, listen);
    std::vector<ListenAddress> all;
    for (std::size_t i = 0; i < listen.size(); ++i) {
        bool const stays = plan.wanted[i] != ListenPlan::opened;
        auto const endpoint = stays ? running[plan.wanted[i]].endpoint : configured_endpoint(listen[i]);
        all.push_back({.address = endpoint.text(), .origin = nullptr, .tls = contexts[i], .intercept = listen[i].intercept});
    }
    return all;
}

}   // namespace garner::proxy
