// The client connections of all workers, and how many there may be.
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
    std::uint32_t max() const { return max_.load(std::memory_order_relaxed); }

    /// The most that are ever open, if limit() found no more.
    std::uint32_t most() const { return max() + reserve(max()); }

    /// If more are open than a lower limit allows, none of them is closed, and none is accepted until fewer are open.
    void limit(std::uint32_t max) {
        bool const lowers = max < max_.exchange(max, std::memory_order_relaxed);
        lowered_.store(now() > max && (lowers || is_lowered()), std::memory_order_relaxed);
    }
    /// True if none may be accepted now.
    bool is_full() {
        auto const now = this->now(), max = this->max();
        if (now < max && is_lowered()) lowered_.store(false, std::memory_order_relaxed);
        return now >= (is_lowered() ? max : max + reserve(max));
    }
    /// True if an idle one must be closed for the others.
    bool needs_room() const { return !is_lowered() && now() > max(); }
    /// True if limit() found more than it allowed, and there are still more.
    bool is_lowered() const { return lowered_.load(std::memory_order_relaxed); }

private:
    /// Beyond the limit, for clients that connect while an idle connection is being closed.
    static std::uint32_t reserve(std::uint32_t max) { return std::clamp(max / 8, 2u, 64u); }

    std::atomic<std::uint32_t> now_{0};
    std::atomic<std::uint32_t> max_{0};
    std::atomic<bool> lowered_{false};
};

}   // namespace garner::proxy
