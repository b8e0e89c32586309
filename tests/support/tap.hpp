// Recorders of the bytes that the program sends to other caches.
#pragma once
#include <atomic>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <thread>

#include "support/wire.hpp"

namespace garner::test {

/// Relays TCP connections to a port of 127.0.0.1, and records what their clients send.
class Tap {
public:
    explicit Tap(std::uint16_t target);
    Tap(Tap const&) = delete;
    ~Tap();

    std::uint16_t port() const { return listening_.port; }
    /// The bytes of all connections so far.
    std::string sent() const;
    std::size_t connections() const { return connections_; }

private:
    void accept();
    void relay(int client);

    std::uint16_t target_;
    Listening listening_;
    mutable std::mutex mutex_;
    std::string sent_;
    std::atomic<std::size_t> connections_{0};
    std::atomic<bool> stopping_{false};
    std::list<std::thread> threads_;
    std::thread acceptor_;
};

/// A UDP port of 127.0.0.1 that records datagrams and answers none.
class DatagramTap {
public:
    DatagramTap();
    DatagramTap(DatagramTap const&) = delete;
    ~DatagramTap();

    std::uint16_t port() const { return port_; }
    std::string received() const;
    std::size_t datagrams() const { return datagrams_; }

private:
    void run();

    int socket_;
    std::uint16_t port_ = 0;
    mutable std::mutex mutex_;
    std::string received_;
    std::atomic<std::size_t> datagrams_{0};
    std::atomic<bool> stopping_{false};
    std::thread thread_;
};

}   // namespace garner::test
