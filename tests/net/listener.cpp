#include "net/listener.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

namespace garner::net {

namespace {

void be_patient(int fd) {
    timeval patience{5, 0};
    ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
}

int start_connecting(TcpEndpoint const& to) {
    int fd = ::socket(to.protocol().family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    ::connect(fd, to.data(), static_cast<socklen_t>(to.size()));
    return fd;
}

}   // namespace

Listener::Listener(std::string const& address, std::uint16_t port, int backlog) {
    TcpEndpoint endpoint(asio::ip::make_address(address), port);
    fd_ = ::socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
    int yes = 1;
    ::setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (::bind(fd_, endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0 || ::listen(fd_, backlog) != 0)
        throw std::runtime_error("cannot listen on " + address);
    socklen_t size = static_cast<socklen_t>(endpoint.capacity());
    ::getsockname(fd_, endpoint.data(), &size);
    port_ = endpoint.port();
}

Listener::~Listener() { ::close(fd_); }

int Listener::accept() {
    pollfd watched{fd_, POLLIN, 0};
    if (::poll(&watched, 1, 5'000) != 1) return -1;
    int fd = ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd >= 0) be_patient(fd);
    return fd;
}

Blackhole::Blackhole(std::string const& address, std::uint16_t port) : listener_(address, port, 0) {
    TcpEndpoint endpoint(asio::ip::make_address(address), listener_.port());
    for (int i = 0; i < 8; ++i) {
        fillers_.push_back(start_connecting(endpoint));
        pollfd connected{fillers_.back(), POLLOUT, 0};
        if (::poll(&connected, 1, 100) == 0) return;
    }
    throw std::runtime_error("the backlog does not fill up");
}

Blackhole::~Blackhole() {
    for (int fd : fillers_) ::close(fd);
}

Pair::Pair(asio::io_context& io, DeadlineWheel& wheel) {
    Listener listener;
    TcpSocket socket(io.get_executor());
    socket.connect(TcpEndpoint(asio::ip::make_address("127.0.0.1"), listener.port()));
    theirs = listener.accept();
    ours = std::make_unique<Transport>(std::move(socket), wheel);
}

Pair::~Pair() { ::close(theirs); }

bool has_ipv6() {
    try {
        Listener listener("::1");
        return true;
    } catch (std::runtime_error const&) {
        return false;
    }
}

}   // namespace garner::net
