#include "net/udp_port.hpp"

#include <unistd.h>

#include <array>
#include <boost/asio/ip/v6_only.hpp>
#include <cerrno>
#include <utility>

#include "net/address.hpp"
#include "net/listen_error.hpp"

namespace garner::net {

namespace {

using ReusePort = asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;

// The requested size; the kernel limits it to net.core.rmem_max and wmem_max.
constexpr int kernel_buffer = 4 * MiB;

using Endpoint = asio::ip::udp::endpoint;

/// `v4`: the socket is IPv4; an IPv6 socket takes IPv4 addresses in mapped form.
Endpoint endpoint_of(IpEndpoint const& at, bool v4) {
    if (v4) return {to_asio(at.address), at.port};
    return {asio::ip::address_v6(at.address.bytes), at.port};
}

}   // namespace

/// Datagrams read or sent with one system call. Pages that no datagram has used take no memory.
struct UdpPort::Batch {
    Batch() : bytes(std::make_unique_for_overwrite<char[]>(batch * datagram_max)) {
        for (std::size_t i = 0; i < batch; ++i) {
            pieces[i] = {bytes.get() + i * datagram_max, datagram_max};
            headers[i].msg_hdr.msg_iov = &pieces[i];
            headers[i].msg_hdr.msg_iovlen = 1;
            headers[i].msg_hdr.msg_name = addresses[i].data();
        }
    }
    int read(int descriptor) {
        for (auto& header : headers) header.msg_hdr.msg_namelen = static_cast<socklen_t>(addresses[0].capacity());
        int n;
        do n = ::recvmmsg(descriptor, headers.data(), batch, MSG_DONTWAIT, nullptr);
        while (n < 0 && errno == EINTR);
        return n;
    }
    void add(std::string_view datagram, Endpoint const& to) {
        auto* const at = bytes.get() + used;
        datagram.copy(at, datagram.size());
        used += datagram.size();
        pieces[count] = {at, datagram.size()};
        addresses[count] = to;
        headers[count].msg_hdr.msg_namelen = static_cast<socklen_t>(to.size());
        ++count;
    }
    std::unique_ptr<char[]> bytes;
    std::size_t used = 0;   // bytes of the datagrams to be sent, which `count` counts
    std::size_t count = 0;
    std::array<mmsghdr, batch> headers{};
    std::array<iovec, batch> pieces;
    std::array<Endpoint, batch> addresses;
};

UdpPort::UdpPort(asio::io_context& io, bool v4)
    : socket_(io), v4_(v4), inbox_(std::make_unique<Batch>()), outbox_(std::make_unique<Batch>()) {}

UdpPort::~UdpPort() {
    if (kept_ >= 0) ::close(kept_);
}

Result<std::unique_ptr<UdpPort>> UdpPort::open(asio::io_context& io, IpEndpoint const& at, bool shared) {
    std::unique_ptr<UdpPort> port(new UdpPort(io, at.address.is_v4()));
    auto& socket = port->socket_;
    Error error, ignored;
    socket.open(port->v4_ ? asio::ip::udp::v4() : asio::ip::udp::v6(), error);
    if (!error && shared) socket.set_option(ReusePort(true), error);
    if (!error && !port->v4_) socket.set_option(asio::ip::v6_only(!at.address.is_unspecified()), error);
    if (!error) socket.bind(endpoint_of(at, port->v4_), error);
    socket.set_option(asio::socket_base::receive_buffer_size(kernel_buffer), ignored);
    socket.set_option(asio::socket_base::send_buffer_size(kernel_buffer), ignored);
    if (error) return Fault{.what = error.message(), .mend = mend_of_listening(error), .where = "UDP " + at.text()};
    return port;
}

Result<std::unique_ptr<UdpPort>> UdpPort::adopt(asio::io_context& io, int descriptor) {
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    bool const known = ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&bound), &size) == 0;
    std::unique_ptr<UdpPort> port(new UdpPort(io, known && bound.ss_family == AF_INET));
    Error error;
    port->socket_.assign(port->v4_ ? asio::ip::udp::v4() : asio::ip::udp::v6(), descriptor, error);
    if (!error) return port;
    ::close(descriptor);
    return Fault{.what = error.message(), .where = "a UDP socket of the running process"};
}

Result<std::unique_ptr<UdpPort>> UdpPort::open_any(asio::io_context& io) {
    if (auto port = open(io, {}, false)) return port;
    return open(io, {IpAddress::v4(0, 0, 0, 0), 0}, false);   // a kernel without IPv6 has no "::"
}

Result<void> UdpPort::is_free(IpEndpoint const& at) {
    asio::io_context io;
    auto const opened = open(io, at, false);
    return opened ? Result<void>() : opened.fault();
}

void UdpPort::start(Handler handler, void* owner) {
    handler_ = handler;
    owner_ = owner;
    await_datagrams();
}

void UdpPort::stop() {
    flush();
    handler_ = nullptr;
    Error ignored;
    int const descriptor = socket_.is_open() ? socket_.release(ignored) : std::exchange(kept_, -1);
    if (descriptor >= 0) ::close(descriptor);
}

/// Not close(): Asio would leave the socket, which another process has open, in its epoll set.
void UdpPort::pause() {
    flush();
    Error error;
    if (kept_ < 0 && socket_.is_open()) kept_ = socket_.release(error);
}

void UdpPort::resume() {
    if (kept_ < 0 || !handler_) return;
    Error error;
    socket_.assign(v4_ ? asio::ip::udp::v4() : asio::ip::udp::v6(), kept_, error);
    if (error) return;
    kept_ = -1;
    await_datagrams();
}

void UdpPort::finish() {
    while (handler_ && read_batch() > 0) flush();
    stop();
}

void UdpPort::await_datagrams() {
    socket_.async_wait(Socket::wait_read, [this, there = std::weak_ptr<bool>(is_there_)](Error error) {
        if (error || there.expired() || !handler_) return;
        read_batch();
        flush();
        if (handler_) await_datagrams();
    });
}

int UdpPort::read_batch() {
    int const n = inbox_->read(socket_.native_handle());   // an error belongs to an earlier datagram, and this read clears it
    for (int i = 0; i < n && handler_; ++i) {
        auto const& header = inbox_->headers[i];
        if (header.msg_hdr.msg_flags & MSG_TRUNC) {
            oversized.add();
            continue;
        }
        std::span<char const> const datagram(static_cast<char const*>(inbox_->pieces[i].iov_base), header.msg_len);
        auto const& from = inbox_->addresses[i];
        handler_(owner_, datagram, {to_ip(from.address()), from.port()});
    }
    return n;
}

void UdpPort::send(std::string_view datagram, IpEndpoint const& to) {
    if (datagram.size() > datagram_max || (v4_ && !to.address.is_v4())) return dropped.add();
    if (outbox_->count == batch) flush();
    outbox_->add(datagram, endpoint_of(to, v4_));
}

void UdpPort::flush() {
    auto& out = *outbox_;
    for (std::size_t sent = 0; sent < out.count;) {
        int const n =
            ::sendmmsg(socket_.native_handle(), out.headers.data() + sent, static_cast<unsigned>(out.count - sent), MSG_DONTWAIT);
        if (n > 0) {
            sent += static_cast<std::size_t>(n);
        } else if (n < 0 && errno == EINTR) {
            continue;
        } else if (n < 0 && (errno == EAGAIN || errno == ENOBUFS || errno == EBADF)) {
            dropped.add(out.count - sent);
            break;
        } else {   // the kernel refuses this datagram
            dropped.add();
            ++sent;
        }
    }
    out.count = out.used = 0;
}

IpEndpoint UdpPort::local() const {
    Error error;
    auto const at = socket_.local_endpoint(error);
    if (error) return {};
    return {to_ip(at.address()), at.port()};
}

}   // namespace garner::net
