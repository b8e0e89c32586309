#include "proxy/listener.hpp"

#include <linux/filter.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <utility>

#include "net/address.hpp"
#include "net/listen_error.hpp"
#include "net/receive.hpp"
#include "proxy/admission.hpp"
#include "proxy/connection.hpp"
#include "proxy/proxy_header_connection.hpp"

namespace garner::proxy {

namespace asio = net::asio;

namespace {

using ReusePort = asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;
constexpr int backlog = 4096;
constexpr milliseconds at_limit_pause{20};
constexpr milliseconds no_descriptors_pause{100};

Result<void> to_result(net::TcpEndpoint const& endpoint, net::Error const& error) {
    if (!error) return {};
    IpEndpoint const at{net::to_ip(endpoint.address()), endpoint.port()};
    return Fault{.what = error.message(), .mend = net::mend_of_listening(error), .where = "cannot listen on " + at.text()};
}

/// "::" accepts IPv4 clients too; any other IPv6 address accepts IPv6 only.
void set_dual_stack(Acceptor& acceptor, net::TcpEndpoint const& endpoint, net::Error& error) {
    if (endpoint.protocol() != asio::ip::tcp::v6()) return;
    acceptor.set_option(asio::ip::v6_only(!endpoint.address().is_unspecified()), error);
}

}   // namespace

Listener::~Listener() {
    if (kept_ >= 0) ::close(kept_);
}

void Listener::start() {
    net::report_drained(acceptor_.native_handle());
    net::Error ignored;
    acceptor_.set_option(asio::ip::tcp::no_delay(true), ignored);   // accepted sockets inherit both
    auto running = run(shared_from_this());
    asio::co_spawn(services_.worker.io.get_executor(), std::move(running), asio::detached);
}

void Listener::use(std::shared_ptr<ListenPoint const> point) {
    asio::post(services_.worker.io,
               [self = shared_from_this(), point = std::move(point)]() mutable { self->point_ = std::move(point); });
}

/// run() has looked at the limit before it began to wait for a connection.
void Listener::apply_limit() {
    asio::post(services_.worker.io, [self = shared_from_this()] {
        net::Error error;
        self->acceptor_.cancel(error);
    });
}

/// A socket that is closed with connections in its queue resets them, and their clients may have sent a request. The filter
/// sees the TCP header: byte 13 has the flags, and 2 is SYN.
void Listener::drop_new() {
    if (inherited_) return;   // the filter would stay on the socket
    sock_filter steps[]{
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 13),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
    };
    sock_fprog const program{.len = std::size(steps), .filter = steps};
    ::setsockopt(acceptor_.native_handle(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}

milliseconds Listener::handshake_time() const { return on_loopback_ ? milliseconds{5} : milliseconds{100}; }

void Listener::close() {
    asio::post(services_.worker.io, [self = shared_from_this()] { self->close_now(); });
}

/// Not close(): Asio would leave the socket, which another process has open, in its epoll set.
void Listener::pause() {
    asio::post(services_.worker.io, [self = shared_from_this()] {
        net::Error error;
        if (!self->accepts()) return;
        self->kept_ = self->acceptor_.release(error);
        self->pause_.cancel();
    });
}

void Listener::resume() {
    asio::post(services_.worker.io, [self = shared_from_this()] {
        net::Error error;
        if (self->stopped_ || self->kept_ < 0) return;
        self->acceptor_.assign(self->endpoint_.protocol(), self->kept_, error);
        if (error) return;
        self->kept_ = -1;
        self->start();
    });
}

void Listener::retire() {
    drop_new();
    auto closing = close_later(shared_from_this());
    asio::co_spawn(services_.worker.io.get_executor(), std::move(closing), asio::detached);
}

net::awaitable<void> Listener::close_later(std::shared_ptr<Listener>) {
    net::Timer timer(services_.worker.io.get_executor(), handshake_time());
    auto [error] = co_await timer.async_wait(net::as_values);
    (void)error;
    close_now();
}

void Listener::close_now() {
    stopped_ = true;
    net::Error error;
    acceptor_.non_blocking(true, error);
    net::TcpEndpoint remote;
    while (!error && !inherited_)
        if (auto socket = acceptor_.accept(remote, error); !error) admit(std::move(socket), remote);
    // Not close(): see pause(). A former process or the service manager may have the socket, too.
    int const descriptor = acceptor_.is_open() ? acceptor_.release(error) : std::exchange(kept_, -1);
    if (descriptor >= 0) ::close(descriptor);
    pause_.cancel();
}

net::awaitable<void> Listener::pause(milliseconds time) {
    services_.counters.accept_paused.add();
    pause_.expires_after(time);
    auto [error] = co_await pause_.async_wait(net::as_values);
    (void)error;
}

net::awaitable<void> Listener::run(std::shared_ptr<Listener>) {
    ++services_.accepting;
    while (accepts()) {
        auto& connections = services_.shared.connections;
        if (connections.is_full()) {
            if (connections.needs_room()) make_room(services_);
            co_await pause(at_limit_pause);
            continue;
        }
        net::TcpEndpoint remote;
        auto [error, socket] = co_await acceptor_.async_accept(remote, net::as_values);
        if (!error) {   // also after close_now(): the connection was accepted before
            net::note_sole_owner(socket);
            admit(std::move(socket), remote);
        } else if (error == asio::error::no_descriptors || error.value() == ENFILE || error == asio::error::no_memory) {
            co_await find_descriptors();
        }
    }
    --services_.accepting;
}

/// Closes idle connections to origins in favour of clients: on this worker at once, on the others soon.
net::awaitable<void> Listener::find_descriptors() {
    constexpr std::size_t some = 16;
    for (auto* services : services_.shared.workers)
        if (services != &services_) asio::post(services->worker.io, [services] { services->worker.pool.close_oldest(some); });
    if (services_.worker.pool.close_oldest(some) == 0) {
        make_room(services_);
        co_await pause(no_descriptors_pause);
    }
}

void Listener::admit(net::TcpSocket socket, net::TcpEndpoint const& remote) {
    IpEndpoint peer{net::to_ip(remote.address()), remote.port()};
    bool const has_header = is_among(peer.address, point_->proxy_protocol);
    auto const client = counted_client(services_, peer.address);
    if (has_header) {
        if (!enter_balancer(services_, peer.address)) return log_refused_client(services_, peer.address, 0, limit_of_all);
    } else if (!enter_client(services_, peer.address)) {
        return log_refused_client(services_, peer.address, speaks_clear() ? refuse_in_clear(socket) : 0, limit_of_client);
    }
    services_.counters.connections.add();
    Accepted accepted{std::make_unique<net::Transport>(std::move(socket), services_.worker.wheel), peer, Seat(services_, client),
                      point_};
    if (has_header)
        Connection::start(std::make_unique<ProxyHeaderConnection>(services_, std::move(accepted)));
    else
        start_protocol(services_, std::move(accepted));
    if (services_.shared.connections.needs_room()) make_room(services_);
}

/// One write attempt only: a client that opens too many connections must cost no more. For the same reason a TLS client
/// gets no answer: a handshake costs more than all its other requests.
Bytes Listener::refuse_in_clear(net::TcpSocket& socket) const {
    static constexpr std::string_view refusal = "HTTP/1.1 429 Too Many Requests\r\nConnection: close\r\nCache-Control: no-store\r\n"
                                                "Content-Type: text/plain;charset=utf-8\r\nContent-Length: 78\r\n\r\n"
                                                "429 Too Many Requests: this client has too many connections open. Close some.\n";
    net::Error error;
    socket.native_non_blocking(true, error);
    return socket.write_some(asio::buffer(refusal), error);
}

Result<void> port_is_free(net::TcpEndpoint const& endpoint) {
    asio::io_context io;
    Acceptor probe(io);
    net::Error error;
    probe.open(endpoint.protocol(), error);
    if (!error) probe.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) set_dual_stack(probe, endpoint, error);
    if (!error) probe.bind(endpoint, error);
    return to_result(endpoint, error);
}

Result<Acceptor> listen_on(asio::io_context& io, net::TcpEndpoint const& endpoint) {
    Acceptor acceptor(io);
    net::Error error;
    acceptor.open(endpoint.protocol(), error);
    if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor.set_option(ReusePort(true), error);
    if (!error) set_dual_stack(acceptor, endpoint, error);
    if (!error) acceptor.bind(endpoint, error);
    if (!error) acceptor.listen(backlog, error);
    if (auto const listening = to_result(endpoint, error); !listening) return listening.fault();
    return acceptor;
}

}   // namespace garner::proxy
