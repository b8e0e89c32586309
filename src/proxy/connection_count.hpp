// The client connections of all workers, the connections to origins beyond one for each, and how many there may be.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>

namespace garner::proxy {

/// Thread-safe.
class ConnectionCount {
public:
    void enter() { now_.fetch_add(1, std::memory_order_relaxed); }
    void leave() { now_.fetch_sub(1, std::memory_order_relaxed); }
    std::uint32_t now() const { return now_.load(std::memory_order_relaxed); }
    /// A connection to an origin that no client connection includes: a seat like that of a client connection.
    void enter_extra() { extra_.fetch_add(1, std::memory_order_relaxed); }
    void leave_extra() { extra_.fetch_sub(1, std::memory_order_relaxed); }
    /// The seats in use.
    std::uint32_t seats() const { return now() + extra_.load(std::memory_order_relaxed); }
    std::uint32_t max() const { return max_.load(std::memory_order_relaxed); }

    /// The most that are ever open, if limit() found no more.
    std::uint32_t most() const { return max() + reserve(max()); }

    /// If more are open than a lower limit allows, none of them is closed, and none is accepted until fewer are open.
    void limit(std::uint32_t max) {
        bool const lowers = max < max_.exchange(max, std::memory_order_relaxed);
        lowered_.store(seats() > max && (lowers || is_lowered()), std::memory_order_relaxed);
    }
    /// True if none may be accepted now.
    bool is_full() {
        auto const now = seats(), max = this->max();
        if (now < max && is_lowered()) lowered_.store(false, std::memory_order_relaxed);
        return now >= (is_lowered() ? max : max + reserve(max));
    }
    /// True if an extra one may begin now: a quarter of the seats is for clients that connect, and for their hits.
    bool may_enter_extra() { return extra_.load(std::memory_order_relaxed) < max() - max() / 4 && !is_full(); }
    /// True if an idle one must be closed for the others.
    bool needs_room() const { return !is_lowered() && seats() > max(); }
    /// True if limit() found more than it allowed, and there are still more.
    bool is_lowered() const { return lowered_.load(std::memory_order_relaxed); }

private:
    /// Beyond the limit, for clients that connect while an idle connection is being closed.
    static std::uint32_t reserve(std::uint32_t max) { return std::clamp(max / 8, 2u, 64u); }

    std::atomic<std::uint32_t> now_{0};
    std::atomic<std::uint32_t> extra_{0};
    std::atomic<std::uint32_t> max_{0};
    std::atomic<bool> lowered_{false};
};

}   // namespace garner::proxy
