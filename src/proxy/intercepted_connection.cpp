#include "proxy/intercepted_connection.hpp"

#include <sys/socket.h>

#include <boost/asio/error.hpp>
#include <cerrno>

#include "net/client_hello.hpp"
#include "net/original_destination.hpp"
#include "proxy/http1_connection.hpp"

namespace garner::proxy {

namespace {

constexpr milliseconds alert_limit{1'000};
constexpr char const* direct_refusal = "this port takes only connections to other servers that the firewall diverts "
                                       "(listen[].intercept): use another port of the proxy";

}   // namespace

net::awaitable<void> InterceptedConnection::run() {
    auto const destination = this->destination();
    if (!destination) co_return refuse_direct();
    begin_to_wait();
    auto const begin = co_await read_begin();
    end_wait();
    drained_.disarm();
    services_.counters.intercepted_begun.add(begin);
    if (begin == Begin::http) start_http(*destination);
    if (begin == Begin::tls) co_await pass_on(*destination);
}

/// Nothing for a client that has connected to the proxy: a request would be sent to the proxy again, without end.
std::optional<IpEndpoint> InterceptedConnection::destination() {
    auto const found = net::original_destination(transport().descriptor(), point().intercept);
    if (!found || !services_.own || http::is_own_listener(found->address, found->port, *services_.own)) return std::nullopt;
    return found;
}

void InterceptedConnection::refuse_direct() {
    services_.counters.intercepted_begun.add(Begin::direct);
    start(std::make_unique<Http1Connection>(services_, hand_over(), direct_refusal));
}

// ---- the first bytes ----

net::awaitable<InterceptedBegin> InterceptedConnection::read_begin() {
    auto const until = steady_now() + services_.options->deadlines.head;
    for (;;) {
        auto const left = std::chrono::duration_cast<milliseconds>(until - steady_now());
        if (left <= milliseconds{0}) co_return Begin::timed_out;
        auto const error = co_await transport().wait_input(left);
        if (error == net::asio::error::timed_out) co_return Begin::timed_out;
        if (error) co_return Begin::closed;
        if (auto const begin = look()) co_return *begin;
    }
}

/// Leaves the bytes of HTTP in the socket. Nothing: more are needed.
std::optional<InterceptedBegin> InterceptedConnection::look() {
    if (!hello_.empty()) return take_hello();
    char first = 0;
    auto const count = ::recv(transport().descriptor(), &first, 1, MSG_PEEK | MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return std::nullopt;
    if (count <= 0) return Begin::closed;
    return first == net::tls_handshake ? take_hello() : std::optional(Begin::http);
}

std::optional<InterceptedBegin> InterceptedConnection::take_hello() {
    auto const buffer = services_.worker.buffers.take();
    auto const read = transport().try_read({buffer.get(), net::BufferPool::size});
    if (read.error == net::asio::error::would_block) return std::nullopt;
    if (read.error) return Begin::closed;
    hello_.append(buffer.get(), read.bytes);
    auto reading = net::read_client_hello(hello_);
    using State = net::ClientHelloReading::State;
    if (reading.state == State::needs_more) return std::nullopt;
    if (reading.state == State::not_tls) return Begin::not_tls;
    if (reading.state == State::malformed) {
        services_.shared.handshake_failures.note(client(), own_endpoint(), std::string("ClientHello with ") + reading.reason);
        return Begin::malformed;
    }
    if (services_.shared.own_ends.has(peer())) return Begin::loop;
    server_name_ = std::move(reading.hello.server_name);
    return Begin::tls;
}

// ---- HTTP ----

void InterceptedConnection::start_http(IpEndpoint const& destination) {
    auto accepted = hand_over();
    auto point = *accepted.point;
    point.origin = intercepted_origin(http::Scheme::http, destination);
    accepted.point = std::make_shared<ListenPoint const>(std::move(point));
    start(std::make_unique<Http1Connection>(services_, std::move(accepted)));
}

// ---- TLS ----

/// Without a server name the address is the host.
std::string InterceptedConnection::authority(IpEndpoint const& destination) const {
    if (server_name_.empty()) return destination.text();
    if (auto const address = parse_ip(server_name_)) return IpEndpoint{*address, destination.port}.text();
    return server_name_ + ":" + std::to_string(destination.port);
}

net::awaitable<void> InterceptedConnection::pass_on(IpEndpoint const& destination) {
    auto const origin = intercepted_origin(http::Scheme::https, destination);
    auto const options = services_.options;
    stream_.emplace(transport(), describe_client(), services_.worker, origin_seats(), authority(destination), std::move(hello_));
    place_ = services_.places.take();
    auto& transaction = place_->transaction.emplace(services_, *stream_, origin.get(), place_->scratch, options);
    if (!transaction.run_at_once()) co_await transaction.run();
    auto const status = transaction.sent_status();
    place_.reset();
    co_await end(status);
}

/// A client whose origin cannot be reached sees what it would see without the proxy.
net::awaitable<void> InterceptedConnection::end(std::uint16_t status) {
    constexpr std::uint16_t established = 200, denied = 403;
    if (status != established && status != denied) co_return transport().close_with_reset();
    if (status == denied) co_await transport().write(net::access_denied_alert, alert_limit);
    co_await linger();
}

// ---- the end of the process ----

void InterceptedConnection::drain() {
    if (!place_) drained_.arm(drain_patience());
}

void InterceptedConnection::abort() {
    if (place_)
        place_->transaction->abort();
    else
        transport().cancel();
}

void InterceptedConnection::name_pending(std::vector<std::string>& lines) const {
    if (place_) lines.push_back(place_->transaction->text());
}

}   // namespace garner::proxy
