// Pauses before replies, which end early when the server stops.
#pragma once
#include <cstddef>
#include <set>

#include "net/asio.hpp"
#include "util/clock.hpp"

namespace garner::admin {

/// For one thread.
class Pauses {
public:
    static constexpr std::size_t most = 32;   // at once

    explicit Pauses(net::asio::io_context& io) : io_(io) {}
    /// Returns false at once if there are too many.
    net::awaitable<bool> wait(milliseconds time);
    /// Ends all, also later ones.
    void stop();

private:
    net::asio::io_context& io_;
    std::set<net::Timer*> timers_;
    bool stopped_ = false;
};

}   // namespace garner::admin
