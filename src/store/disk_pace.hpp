// When to poll for the completion of a disk read.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace garner::store::disk {

/// A poll costs one or two microseconds, waking a thread about ten. So a short read is polled at the time when most
/// recent reads had completed. Thread-safe; a concurrent update may be lost.
class ReadPace {
public:
    using microseconds = std::chrono::microseconds;
    static constexpr int looks_max = 4;
    static constexpr microseconds least{40}, most{1'000};

    /// Time until the first poll; nothing when reads take too long for polling. Then a poll is still tried
    /// occasionally.
    std::optional<microseconds> first() {
        auto const usual = usual_.load(std::memory_order_relaxed);
        if (usual <= most.count()) return microseconds{usual};
        set(usual - usual / 64);
        return std::nullopt;
    }
    /// Time from a failed poll to the next.
    microseconds next() const { return std::max(microseconds{usual_.load(std::memory_order_relaxed) / 2}, least); }
    /// The read had completed at the first or a later poll. In balance with was_not(), four of five have completed at
    /// the first poll.
    void was_there() {
        auto const usual = usual_.load(std::memory_order_relaxed);
        set(usual - usual / 32);
    }
    void was_not() {
        auto const usual = usual_.load(std::memory_order_relaxed);
        set(usual + usual / 8);
    }

private:
    void set(std::int64_t usual) {
        usual_.store(std::clamp<std::int64_t>(usual, least.count(), 2 * most.count()), std::memory_order_relaxed);
    }
    std::atomic<std::int64_t> usual_{100};
};

}   // namespace garner::store::disk
