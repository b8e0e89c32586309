// Pauses before replies, which end early when the server stops.
#pragma once
#include <set>

#include "net/asio.hpp"
#include "util/clock.hpp"

namespace garner::admin {

/// For one thread.
class Pauses {
public:
    explicit Pauses(net::asio::io_context& io) : io_(io) {}
    net::awaitable<void> wait(milliseconds time);
    /// Ends all, also later ones.
    void stop();

private:
    net::asio::io_context& io_;
    std::set<net::Timer*> timers_;
    bool stopped_ = false;
};

}   // namespace garner::admin
