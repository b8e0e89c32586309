#include "proxy/connection.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <optional>

#include "net/address.hpp"
#include "net/tls_session.hpp"

namespace garner::proxy {

namespace {

/// While nearly all connections work, those that wait are mostly new, and their requests are on the way.
bool few_wait(Services& services) {
    auto const& all = services.shared.connections;
    auto const few = std::max<std::size_t>((all.most() - all.max()) / services.shared.workers.size(), 1);
    std::size_t waiting = 0;
    for (auto* connection : services.connections)
        if (connection->waits() && ++waiting > few) return false;
    return true;
}

Connection* longest_waiting(Services& services, std::optional<IpAddress> const& client) {
    auto const now = steady_now();
    auto const patience = few_wait(services) ? milliseconds{1'000} : milliseconds{0};
    for (auto* connection : services.connections)
        if (connection->gives_way(now, patience) && (!client || connection->client() == *client)) return connection;
    return nullptr;
}

/// `left`: workers that have not been asked. When none is left, a connection of any client is closed.
void make_room_of(Services& services, std::optional<IpAddress> client, std::size_t left) {
    if (auto* connection = longest_waiting(services, client)) return connection->give_way();
    auto const& all = services.shared.workers;
    if (left == 0 && !client) return;
    if (left == 0) client.reset(), left = all.size();
    auto& next = *all[(services.worker.number + 1) % all.size()];
    net::asio::post(next.worker.io, [&next, client, left] { make_room_of(next, client, left - 1); });
}

}   // namespace

void make_room(Services& services) {
    make_room_of(services, services.shared.clients.busiest(), services.shared.workers.size() - 1);
}

Connection::Connection(Services& services, Accepted accepted) : services_(services), accepted_(std::move(accepted)) {
    services_.connections.push_back(*this);
}

std::shared_ptr<Client const> Connection::describe_client() const {
    if (accepted_.outside) {
        auto client = *accepted_.outside;
        client.http2 = accepted_.transport->tls()->http2();
        return std::make_shared<Client const>(std::move(client));
    }
    Client client{.peer = accepted_.peer, .listener = accepted_.point->port, .secure = accepted_.transport->secure()};
    auto const* tls = accepted_.transport->tls();
    client.http2 = tls && tls->http2();
    client.header = accepted_.header;
    if (tls) client.certificate = tls->peer_names();
    return std::make_shared<Client const>(std::move(client));
}

IpEndpoint Connection::own_endpoint() const {
    net::Error ignored;
    auto const local = accepted_.transport->socket().local_endpoint(ignored);
    return {net::to_ip(local.address()), local.port()};
}

void Connection::start(std::unique_ptr<Connection> connection) {
    auto executor = connection->services_.worker.io.get_executor();
    auto running = run_to_end(std::move(connection));
    net::asio::co_spawn(executor, std::move(running), net::asio::detached);
}

/// A drain has been told to the connections that existed when it began.
net::awaitable<void> Connection::run_to_end(std::unique_ptr<Connection> connection) {
    if (connection->services_.drain.begun) connection->drain();
    co_await connection->run();
}

net::awaitable<void> Connection::linger() {
    if (!transport().is_open()) co_return;
    transport().shutdown_send();
    begin_to_wait();
    constexpr milliseconds patience{2'000};
    constexpr Bytes most = 256 * KiB;
    char sink[4096];
    auto give_up = steady_now() + patience;
    for (Bytes read = 0; read < most;) {
        auto left = std::chrono::duration_cast<milliseconds>(give_up - steady_now());
        if (left <= milliseconds::zero()) break;
        auto result = co_await transport().read_some(sink, left);
        if (result.error) break;
        read += result.bytes;
    }
}

void Connection::begin_to_wait() {
    waits_ = true;
    asked_.reset();
    unlink();
    services_.connections.push_back(*this);
}

milliseconds Connection::drain_patience() const {
    constexpr milliseconds least{1'000};
    return std::max(services_.options->deadlines.drain_idle, least);
}

bool Connection::gives_way(SteadyTime now, milliseconds patience) {
    if (!waits_) return false;
    if (!asked_) asked_ = now;
    return now - *asked_ >= patience;
}

void Connection::give_way() {
    waits_ = false;
    services_.counters.connections_displaced.add();
    transport().cancel();
}

}   // namespace garner::proxy
