#include "net/udp_port.hpp"

#include <netinet/in.h>

#include <array>
#include <boost/asio/ip/v6_only.hpp>
#include <cerrno>
#include <cstring>

#include "net/address.hpp"

namespace garner::net {

namespace {

using ReusePort = asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;

// Asked for; the kernel gives what net.core.rmem_max and wmem_max let it.
constexpr int kernel_buffer = 4 * MiB;

asio::ip::udp::endpoint endpoint_of(IpEndpoint const& at) {
    if (!at.address.is_v4()) return {asio::ip::address_v6(at.address.bytes), at.port};
    asio::ip::address_v4::bytes_type four;
    std::memcpy(four.data(), at.address.bytes.data() + 12, four.size());
    return {asio::ip::address_v4(four), at.port};
}

/// Big enough for both families, and cheaper to have many of than sockaddr_storage.
union SocketAddress {
    sockaddr any;
    sockaddr_in v4;
    sockaddr_in6 v6;
};

socklen_t write_address(IpEndpoint const& to, bool v4, SocketAddress& out) {
    out = {};
    if (v4) {
        out.v4.sin_family = AF_INET;
        out.v4.sin_port = htons(to.port);
        std::memcpy(&out.v4.sin_addr, to.address.bytes.data() + 12, 4);
        return sizeof out.v4;
    }
    out.v6 = {};
    out.v6.sin6_family = AF_INET6;
    out.v6.sin6_port = htons(to.port);
    std::memcpy(&out.v6.sin6_addr, to.address.bytes.data(), 16);
    return sizeof out.v6;
}

IpEndpoint read_address(SocketAddress const& from, bool v4) {
    if (v4) return {IpAddress::v4(ntohl(from.v4.sin_addr.s_addr)), ntohs(from.v4.sin_port)};
    IpEndpoint endpoint{{}, ntohs(from.v6.sin6_port)};
    std::memcpy(endpoint.address.bytes.data(), &from.v6.sin6_addr, 16);
    return endpoint;
}

}  // namespace

/// Where recvmmsg writes. Memory that no datagram has reached yet is not there in fact.
struct UdpPort::Inbox {
    Inbox() : bytes(std::make_unique_for_overwrite<char[]>(batch * datagram_max)) {
        for (std::size_t i = 0; i < batch; ++i) {
            pieces[i] = {bytes.get() + i * datagram_max, datagram_max};
            headers[i].msg_hdr.msg_iov = &pieces[i];
            headers[i].msg_hdr.msg_iovlen = 1;
            headers[i].msg_hdr.msg_name = &addresses[i];
        }
    }
    int read(int descriptor) {
        for (auto& header : headers) header.msg_hdr.msg_namelen = sizeof(SocketAddress);
        int n;
        do n = ::recvmmsg(descriptor, headers.data(), batch, MSG_DONTWAIT, nullptr);
        while (n < 0 && errno == EINTR);
        return n;
    }
    std::unique_ptr<char[]> bytes;
    std::array<mmsghdr, batch> headers{};
    std::array<iovec, batch> pieces;
    std::array<SocketAddress, batch> addresses;
};

/// What waits to be sent.
struct UdpPort::Outbox {
    Outbox() : bytes(std::make_unique_for_overwrite<char[]>(batch * datagram_max)) {
        for (std::size_t i = 0; i < batch; ++i) {
            headers[i].msg_hdr.msg_iov = &pieces[i];
            headers[i].msg_hdr.msg_iovlen = 1;
            headers[i].msg_hdr.msg_name = &addresses[i];
        }
    }
    bool full() const { return count == batch; }
    void add(std::string_view datagram, IpEndpoint const& to, bool v4) {
        auto* place = bytes.get() + used;
        datagram.copy(place, datagram.size());
        used += datagram.size();
        pieces[count] = {place, datagram.size()};
        headers[count].msg_hdr.msg_namelen = write_address(to, v4, addresses[count]);
        ++count;
    }
    void clear() { count = used = 0; }

    std::unique_ptr<char[]> bytes;
    std::size_t used = 0;
    std::size_t count = 0;
    std::array<mmsghdr, batch> headers{};
    std::array<iovec, batch> pieces;
    std::array<SocketAddress, batch> addresses;
};

UdpPort::UdpPort(asio::io_context& io, bool v4)
    : socket_(io), v4_(v4), inbox_(std::make_unique<Inbox>()), outbox_(std::make_unique<Outbox>()) {}

UdpPort::~UdpPort() = default;

std::unique_ptr<UdpPort> UdpPort::bound(asio::io_context& io, IpEndpoint const& at, bool shared, Error& error) {
    std::unique_ptr<UdpPort> port(new UdpPort(io, at.address.is_v4()));
    auto& socket = port->socket_;
    socket.open(port->v4_ ? asio::ip::udp::v4() : asio::ip::udp::v6(), error);
    if (!error && shared) socket.set_option(ReusePort(true), error);
    if (!error && !port->v4_) socket.set_option(asio::ip::v6_only(!at.address.is_unspecified()), error);
    if (!error) socket.bind(endpoint_of(at), error);
    Error ignored;
    socket.set_option(asio::socket_base::receive_buffer_size(kernel_buffer), ignored);
    socket.set_option(asio::socket_base::send_buffer_size(kernel_buffer), ignored);
    return error ? nullptr : std::move(port);
}

std::unique_ptr<UdpPort> UdpPort::open(asio::io_context& io, IpEndpoint const& at, bool shared, std::string& fault) {
    Error error;
    auto port = bound(io, at, shared, error);
    if (error) fault = "UDP " + at.text() + ": " + error.message();
    return port;
}

bool UdpPort::is_free(IpEndpoint const& at, std::string& fault) {
    asio::io_context io;
    return open(io, at, false, fault) != nullptr;
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
    socket_.close(ignored);
}

void UdpPort::await_datagrams() {
    socket_.async_wait(Socket::wait_read, [this](Error error) {
        if (error || !handler_) return;
        read_batch();
        flush();
        if (handler_) await_datagrams();
    });
}

void UdpPort::read_batch() {
    int const n = inbox_->read(socket_.native_handle());   // an error is an earlier datagram's, and read away by this
    for (int i = 0; i < n && handler_; ++i) {
        auto const& header = inbox_->headers[i];
        if (header.msg_hdr.msg_flags & MSG_TRUNC) {
            oversized.add();
            continue;
        }
        std::span<char const> const datagram(static_cast<char const*>(inbox_->pieces[i].iov_base), header.msg_len);
        handler_(owner_, datagram, read_address(inbox_->addresses[i], v4_));
    }
}

void UdpPort::send(std::string_view datagram, IpEndpoint const& to) {
    if (datagram.size() > datagram_max || (v4_ && !to.address.is_v4())) return dropped.add();
    if (outbox_->full()) flush();
    outbox_->add(datagram, to, v4_);
}

void UdpPort::flush() {
    auto& out = *outbox_;
    for (std::size_t sent = 0; sent < out.count;) {
        int const n = ::sendmmsg(socket_.native_handle(), out.headers.data() + sent,
                                 static_cast<unsigned>(out.count - sent), MSG_DONTWAIT);
        if (n > 0) {
            sent += static_cast<std::size_t>(n);
        } else if (n < 0 && errno == EINTR) {
            continue;
        } else if (n < 0 && (errno == EAGAIN || errno == ENOBUFS || errno == EBADF)) {
            dropped.add(out.count - sent);
            break;
        } else {   // that one cannot go there
            dropped.add();
            ++sent;
        }
    }
    out.clear();
}

IpEndpoint UdpPort::local() const {
    Error error;
    auto const at = socket_.local_endpoint(error);
    if (error) return {};
    return {to_ip(at.address()), at.port()};
}

}  // namespace garner::net
