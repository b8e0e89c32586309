#include "web/http_service.hpp"

#include <pthread.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <map>

#include "net/address.hpp"

namespace garner::web {

namespace asio = net::asio;

namespace {

constexpr milliseconds no_descriptors_pause{100};
constexpr milliseconds drain_step{20};

/// One subscriber has at least a /64 (RFC 6177).
IpAddress group(IpAddress const& client) { return first_bits(client, 32, 64); }

IpEndpoint plain(net::TcpEndpoint const& endpoint) { return {net::to_ip(endpoint.address()), endpoint.port()}; }

}   // namespace

Result<std::unique_ptr<HttpService>> HttpService::open(Options const& options, Serve serve) {
    std::unique_ptr<HttpService> service(new HttpService(options, std::move(serve)));
    if (auto const error = service->listen())
        return Fault{.what = error.message(), .where = options.address + " port " + std::to_string(options.port)};
    service->address_ = plain(service->acceptor_.local_endpoint()).text();
    return service;
}

net::Error HttpService::listen() {
    net::Error error;
    net::TcpEndpoint const endpoint(asio::ip::make_address(options_.address, error), options_.port);
    if (!error) acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    bool const every_family = endpoint.address().is_unspecified();
    if (!error && endpoint.protocol() == asio::ip::tcp::v6()) acceptor_.set_option(asio::ip::v6_only(!every_family), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    return error;
}

void HttpService::start() {
    auto accepting = accept();
    asio::co_spawn(io_.get_executor(), std::move(accepting), asio::detached);
    thread_ = std::thread([this] {
        ::pthread_setname_np(::pthread_self(), options_.thread);
        io_.run();
    });
}

void HttpService::stop(milliseconds limit, std::function<void()> const& then) {
    if (!thread_.joinable()) return;
    asio::post(io_, [&] {
        limits_.draining = true;
        net::Error ignored;
        acceptor_.close(ignored);
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

net::awaitable<void> HttpService::accept() {
    while (!limits_.draining) {
        auto [error, socket] = co_await acceptor_.async_accept(net::as_values);
        if (limits_.draining) break;
        if (!error)
            admit(std::move(socket));
        else
            co_await pause(no_descriptors_pause);
    }
}

void HttpService::admit(net::TcpSocket socket) {
    net::Error gone;
    auto const peer = socket.remote_endpoint(gone);
    auto const own = gone ? net::TcpEndpoint() : socket.local_endpoint(gone);
    if (gone) return;
    auto const client = plain(peer).address;
    if (!make_room(client)) return;
    socket.set_option(asio::ip::tcp::no_delay(true), gone);
    auto connection = std::make_unique<HttpConnection>(limits_, std::move(socket), plain(own), client);
    connections_.push_back(*connection);
    auto running = run(std::move(connection));
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
    if (!ending && options_.closes_busy) ending = longest([](HttpConnection const&) { return true; });
    if (!ending)
        ending = longest([&](HttpConnection const& one) {
            return one.reads_body() && held[group(one.request().client)] > held[group(client)] + 1;
        });
    if (!ending) return false;
    ending->unlink();
    ending->close();
    return true;
}

net::awaitable<void> HttpService::run(std::unique_ptr<HttpConnection> connection) { co_await serve_(*connection); }

}   // namespace garner::web
