#include "web/http_service.hpp"

#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <map>
#include <utility>

#include "net/acceptor.hpp"
#include "net/address.hpp"
#include "net/listen_error.hpp"

namespace garner::web {

namespace asio = net::asio;

namespace {

constexpr milliseconds no_descriptors_pause{100};
constexpr milliseconds drain_step{20};

/// One subscriber has at least a /64 (RFC 6177).
IpAddress group(IpAddress const& client) { return first_bits(client, 32, 64); }

IpEndpoint plain(net::TcpEndpoint const& endpoint) { return {net::to_ip(endpoint.address()), endpoint.port()}; }

}   // namespace

struct HttpService::OpenAddress {
    OpenAddress(asio::io_context& io, HttpConnection::Limits const& limits) : acceptor(io), limits(limits) {}
    net::Acceptor acceptor;
    OpenAddress(OpenAddress const&) = delete;
    ~OpenAddress() {
        if (kept >= 0) ::close(kept);
    }
    /// Not acceptor.close(): see pause().
    void close() {
        net::Error ignored;
        int const descriptor = acceptor.is_open() ? acceptor.release(ignored) : std::exchange(kept, -1);
        if (descriptor >= 0) ::close(descriptor);
    }
    HttpConnection::Limits limits;
    int kept = -1;   // the socket between pause() and resume()
};

namespace {

using ReusePort = asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;

/// `shares`: beside other sockets of this user.
net::Error bind_to(net::Acceptor& acceptor, net::TcpEndpoint const& endpoint, bool shares) {
    net::Error error;
    acceptor.open(endpoint.protocol(), error);
    if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
    if (!error && shares) acceptor.set_option(ReusePort(true), error);
    bool const every_family = endpoint.address().is_unspecified();
    if (!error && endpoint.protocol() == asio::ip::tcp::v6()) acceptor.set_option(asio::ip::v6_only(!every_family), error);
    if (!error) acceptor.bind(endpoint, error);
    return error;
}

}   // namespace

Result<std::unique_ptr<HttpService>> HttpService::open(Options const& options, Serve serve, int handed) {
    std::unique_ptr<HttpService> service(new HttpService(options, std::move(serve)));
    auto place = handed >= 0 ? service->adopt(handed) : service->listen(options.address, options.port);
    if (!place) return place.fault();
    service->place_ = *std::move(place);
    service->note(service->place_.get());
    return service;
}

/// Sockets share their port, so that an address can follow another one at the same port. Another process must not have the port:
/// a trial binds to it alone. The trial does not listen, because a client that it had accepted would be reset.
Result<HttpService::OpenAddressPtr> HttpService::listen(std::string const& address, std::uint16_t port) {
    if (address.empty()) return OpenAddressPtr();
    auto place = std::make_shared<OpenAddress>(io_, options_.limits);
    net::Error error;
    net::TcpEndpoint const endpoint(asio::ip::make_address(address, error), port);
    bool is_ours;
    {
        MutexLock const lock(mutex_);
        is_ours = listening_.port == port;
    }
    if (!error && !is_ours) {
        OpenAddress trial(io_, options_.limits);
        error = bind_to(trial.acceptor, endpoint, false);
    }
    if (!error) error = bind_to(place->acceptor, endpoint, true);
    if (!error) place->acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (error)
        return Fault{
            .what = error.message(), .mend = net::mend_of_listening(error), .where = address + " port " + std::to_string(port)};
    return place;
}

Result<HttpService::OpenAddressPtr> HttpService::adopt(int handed) {
    auto place = std::make_shared<OpenAddress>(io_, options_.limits);
    net::Error error;
    auto const address = asio::ip::make_address(options_.address, error);
    if (!error) place->acceptor.assign(address.is_v4() ? asio::ip::tcp::v4() : asio::ip::tcp::v6(), handed, error);
    if (!error) return place;
    ::close(handed);
    return Fault{.what = error.message(), .where = options_.address};
}

int HttpService::descriptor() const {
    MutexLock const lock(mutex_);
    return descriptor_;
}

/// Not close(): Asio would leave the socket, which another process has open, in its epoll set.
void HttpService::pause() {
    asio::post(io_, [this] {
        if (!place_ || !place_->acceptor.is_open()) return;
        net::Error error;
        place_->kept = place_->acceptor.release(error);
        place_->limits.closing = true;
    });
}

void HttpService::resume() {
    asio::post(io_, [this] {
        if (!place_ || place_->kept < 0) return;
        net::Error error;
        sockaddr_storage bound{};
        socklen_t size = sizeof bound;
        ::getsockname(place_->kept, reinterpret_cast<sockaddr*>(&bound), &size);
        place_->acceptor.assign(bound.ss_family == AF_INET ? asio::ip::tcp::v4() : asio::ip::tcp::v6(), place_->kept, error);
        if (error) return;
        place_->kept = -1;
        place_->limits.closing = false;
        begin_to_accept();
    });
}

/// Null: it listens nowhere.
void HttpService::note(OpenAddress* place) {
    MutexLock const lock(mutex_);
    descriptor_ = place ? place->acceptor.native_handle() : -1;
    listening_ = place ? plain(place->acceptor.local_endpoint()) : IpEndpoint{};
}

std::string HttpService::address() const {
    MutexLock const lock(mutex_);
    return listening_.port == 0 ? std::string() : listening_.text();
}

Result<Prepared> HttpService::prepare(std::string const& address, std::uint16_t port) {
    auto const place = listen(address, port);
    if (!place) return place.fault();
    return Prepared([this, place = *place] {
        note(place.get());
        asio::post(io_, [this, place] { move_to(place); });
    });
}

/// Clients that the kernel has connected to the former address are accepted first.
void HttpService::move_to(OpenAddressPtr place) {
    if (stopping_) return;
    auto const former = std::exchange(place_, std::move(place));
    begin_to_accept();
    if (!former) return;
    former->limits.closing = true;
    net::Error error;
    former->acceptor.non_blocking(true, error);
    while (!error) {
        net::TcpSocket socket(io_);
        former->acceptor.accept(socket, error);
        if (!error) admit(std::move(socket), former);
    }
    former->close();
}

void HttpService::begin_to_accept() {
    if (!place_) return;
    auto accepting = accept(place_);
    asio::co_spawn(io_.get_executor(), std::move(accepting), asio::detached);
}

void HttpService::start() {
    begin_to_accept();
    thread_ = std::thread([this] {
        ::pthread_setname_np(::pthread_self(), options_.thread);
        RecycledMemory memory;
        io_.run();
    });
}

void HttpService::stop(milliseconds limit, std::function<void()> const& then) {
    if (!thread_.joinable()) return;
    asio::post(io_, [&] {
        stopping_ = true;
        if (place_) place_->limits.draining = true;
        if (place_) place_->close();
        auto draining = drain(limit, then);
        asio::co_spawn(io_.get_executor(), std::move(draining), asio::detached);
    });
    thread_.join();
}

net::awaitable<void> HttpService::drain(milliseconds limit, std::function<void()> const& then) {
    auto const until = steady_now() + limit;
    while (!connections_.empty() && steady_now() < until) {
        for (auto* connection : connections_)
            if (connection->idle()) connection->close();
        co_await pause(drain_step);
    }
    for (auto* connection : connections_) connection->close();
    if (then) then();
}

net::awaitable<void> HttpService::pause(milliseconds time) {
    timer_.expires_after(time);
    auto [woken] = co_await timer_.async_wait(net::as_values);
    (void)woken;
}

net::awaitable<void> HttpService::accept(OpenAddressPtr place) {
    while (place->acceptor.is_open()) {
        auto [error, socket] = co_await place->acceptor.async_accept(net::as_values);
        if (stopping_) break;
        if (!error)
            admit(std::move(socket), place);
        else if (place->acceptor.is_open())
            co_await pause(no_descriptors_pause);
    }
}

void HttpService::admit(net::TcpSocket socket, OpenAddressPtr const& place) {
    net::Error gone;
    auto const peer = socket.remote_endpoint(gone);
    auto const own = gone ? net::TcpEndpoint() : socket.local_endpoint(gone);
    if (gone) return;
    auto const client = plain(peer).address;
    if (!make_room(client)) return;
    socket.set_option(asio::ip::tcp::no_delay(true), gone);
    auto connection = std::make_unique<HttpConnection>(place->limits, std::move(socket), plain(own), client);
    connections_.push_back(*connection);
    auto running = run(std::move(connection), place);
    asio::co_spawn(io_.get_executor(), std::move(running), asio::detached);
}

template <class Condition>
HttpConnection* HttpService::longest(Condition const& may_end) const {
    HttpConnection* longest = nullptr;
    for (auto* one : connections_)
        if (may_end(*one) && (!longest || one->since() < longest->since())) longest = one;
    return longest;
}

/// A client that sends many bodies slowly cannot exclude others: its connections are closed for clients with fewer.
bool HttpService::make_room(IpAddress const& client) const {
    std::map<IpAddress, std::uint32_t> held;
    std::uint32_t count = 0;
    for (auto* one : connections_) ++count, ++held[group(one->request().client)];
    if (count < options_.connections) return true;
    auto* ending = longest([](HttpConnection const& one) { return one.idle(); });
    if (!ending && options_.closes_busy) ending = longest([](HttpConnection const& one) { return !one.streams(); });
    if (!ending)
        ending = longest([&](HttpConnection const& one) {
            return one.reads_body() && held[group(one.request().client)] > held[group(client)] + 1;
        });
    if (!ending) return false;
    ending->unlink();
    ending->close();
    return true;
}

/// The limits of the place outlive the connection.
net::awaitable<void> HttpService::run(std::unique_ptr<HttpConnection> connection, OpenAddressPtr) {
    auto const running = std::move(connection);
    co_await serve_(*running);
}

}   // namespace garner::web
