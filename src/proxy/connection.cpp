#include "proxy/connection.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

namespace garner::proxy {

using Arrival = Http1Stream::Arrival;

namespace {

constexpr std::uint32_t pipelined_per_turn = 16;

Connection* longest_waiting(Services& services, std::optional<IpAddress> const& client) {
    for (auto* connection : services.connections)
        if (connection->waits() && (!client || connection->client() == *client)) return connection;
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

Connection::Connection(Services& services, std::unique_ptr<net::Transport> transport, IpEndpoint peer, IpAddress const& client,
                       std::uint16_t listener, AcceleratedOrigin const* origin)
    : services_(services), stream_(std::move(transport), peer, listener, services.worker.wheel), accelerates_(origin),
      client_(client) {
    services_.connections.push_back(*this);
}

Connection::~Connection() {
    services_.shared.clients.leave(client_);
    services_.shared.connections.fetch_sub(1, std::memory_order_relaxed);
}

void Connection::start(std::unique_ptr<Connection> connection) {
    auto executor = connection->services_.worker.io.get_executor();
    auto running = run_and_destroy(std::move(connection));
    net::asio::co_spawn(executor, std::move(running), net::asio::detached);
}

net::awaitable<void> Connection::run_and_destroy(std::unique_ptr<Connection> connection) { co_await connection->run(); }

net::awaitable<void> Connection::run() {
    std::uint32_t in_turn = 0;
    auto wait_first = services_.options->deadlines.head;   // a client that connects and sends nothing gets no keep-alive time
    for (bool first = true;; first = false) {
        auto options = services_.options;
        Http1Stream::HeadWaits waits{first ? wait_first : options->deadlines.keep_alive, options->deadlines.head};
        idle_ = !stream_.begun();
        if (idle_ && services_.draining) break;
        begin_to_wait();
        auto arrival = co_await stream_.read_head(options->limits.head, waits, services_.heads);
        idle_ = waits_ = false;
        if (arrival != Arrival::request) co_return co_await refuse(arrival);
        transaction_.emplace(services_, stream_, accelerates_, scratch_, options);
        co_await transaction_->run();
        bool const keeps = transaction_->keeps_connection();
        transaction_.reset();
        if (!keeps) break;
        stream_.finish_request();
        // Many pipelined requests must not delay other connections.
        in_turn = stream_.begun() ? in_turn + 1 : 0;
        if (in_turn >= pipelined_per_turn) {
            in_turn = 0;
            co_await net::asio::post(services_.worker.io.get_executor(), net::as_values);
        }
    }
    co_await linger();
}

net::awaitable<void> Connection::refuse(Arrival arrival) {
    if (arrival == Arrival::refused)
        co_await refuse_head(stream_.refusal().status, stream_.refusal().refusal);
    else if (arrival == Arrival::timed_out && stream_.begun())
        co_await refuse_head(408, "The head of the request did not arrive in time.");
    else
        co_return;
    co_await linger();
}

net::awaitable<void> Connection::refuse_head(std::uint16_t status, std::string_view why) {
    auto const options = services_.options;
    stream_.forget_head();
    transaction_.emplace(services_, stream_, accelerates_, scratch_, options);
    co_await transaction_->refuse_head(status, why);
    transaction_.reset();
}

/// RFC 9112 9.6: after the last response the client's bytes are read a little longer. A reset could destroy the response.
net::awaitable<void> Connection::linger() {
    auto& transport = stream_.transport();
    if (!transport.socket().is_open()) co_return;
    transport.shutdown_send();
    begin_to_wait();
    constexpr milliseconds patience{2'000};
    constexpr Bytes most = 256 * KiB;
    char sink[4096];
    auto give_up = steady_now() + patience;
    for (Bytes read = 0; read < most && !services_.draining;) {
        auto left = std::chrono::duration_cast<milliseconds>(give_up - steady_now());
        if (left <= milliseconds::zero()) break;
        auto result = co_await transport.read_some(sink, left);
        if (result.error) break;
        read += result.bytes;
    }
}

void Connection::begin_to_wait() {
    waits_ = true;
    unlink();
    services_.connections.push_back(*this);
}

void Connection::give_way() {
    waits_ = false;
    services_.counters.connections_displaced.add();
    stream_.transport().cancel();
}

void Connection::drain() {
    if (idle_) stream_.transport().cancel();
}

}   // namespace garner::proxy
