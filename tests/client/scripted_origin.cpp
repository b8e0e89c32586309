#include "client/scripted_origin.hpp"

#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

namespace garner::client {

namespace asio = net::asio;

OriginSide::~OriginSide() {
    if (fd_ >= 0) ::close(fd_);
}

void OriginSide::send(std::string_view bytes) {
    while (!bytes.empty()) {
        auto sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) return;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
}

void OriginSide::trickle(std::string_view bytes) {
    for (char const& byte : bytes) {
        send({&byte, 1});
        std::this_thread::yield();
    }
}

std::string OriginSide::receive(std::size_t count) {
    std::string got;
    char chunk[64 * 1024];
    while (got.size() < count) {
        auto received = ::recv(fd_, chunk, std::min(sizeof chunk, count - got.size()), 0);
        if (received <= 0) break;
        got.append(chunk, static_cast<std::size_t>(received));
    }
    return got;
}

void OriginSide::end() { ::shutdown(fd_, SHUT_WR); }

void OriginSide::reset() {
    linger at_once{1, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    ::close(fd_);
    fd_ = -1;
}

Scene::Scene(Script script, http::HeadLimits const& limits) {
    asio::ip::tcp::acceptor acceptor(loop.io, net::TcpEndpoint(asio::ip::make_address("127.0.0.1"), 0));
    net::TcpSocket socket(loop.io.get_executor());
    socket.connect(acceptor.local_endpoint());
    auto accepted = acceptor.accept();
    accepted.native_non_blocking(false);
    int fd = accepted.release();
    int yes = 1;
    timeval patience{5, 0};
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    auto transport = std::make_unique<net::Transport>(std::move(socket), loop.wheel);
    exchange = std::make_unique<Exchange>(std::move(transport), buffers.take(), false, limits);
    origin_ = std::jthread([fd, script = std::move(script)] {
        OriginSide side(fd);
        script(side);
    });
}

Scene::~Scene() { exchange.reset(); }

Trouble Scene::send(std::string_view bytes) {
    iovec part{const_cast<char*>(bytes.data()), bytes.size()};
    return loop.run(exchange->send(std::span(&part, 1), seconds{5}));
}

Scene::Body Scene::read_body(milliseconds limit) {
    Body body;
    for (;;) {
        auto piece = read_piece(limit);
        body.trouble = piece.trouble;
        if (piece.trouble != Trouble::none || piece.data.empty()) return body;
        body.bytes += piece.data;
    }
}

}   // namespace garner::client
