// Sockets for scenes: a listener that accepts only on request, and an unreachable one.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "net/asio.hpp"
#include "net/transport.hpp"

namespace garner::net {

/// Listens on a loopback address; port 0 selects a free one.
class Listener {
public:
    explicit Listener(std::string const& address = "127.0.0.1", std::uint16_t port = 0, int backlog = 64);
    ~Listener();
    Listener(Listener const&) = delete;
    std::uint16_t port() const { return port_; }
    /// The next connection, a blocking socket that the caller closes; -1 if none comes within 5 s.
    int accept();
    int descriptor() const { return fd_; }

private:
    int fd_ = -1;
    std::uint16_t port_ = 0;
};

/// A listener with a full backlog: connections to it get no answer.
class Blackhole {
public:
    explicit Blackhole(std::string const& address = "127.0.0.1", std::uint16_t port = 0);
    ~Blackhole();
    std::uint16_t port() const { return listener_.port(); }

private:
    Listener listener_;
    std::vector<int> fillers_;
};

/// Two ends of one TCP connection: a Transport, and a blocking socket with a timeout of 5 s.
struct Pair {
    Pair(asio::io_context& io, DeadlineWheel& wheel);
    ~Pair();
    Pair(Pair const&) = delete;
    std::unique_ptr<Transport> ours;
    int theirs = -1;
};

bool has_ipv6();

}   // namespace garner::net
