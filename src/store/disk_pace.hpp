// When to look whether a read that the disk was asked for is there.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace garner::store::disk {

/// Looking again costs a microsecond or two, a thread that waits and is woken ten: so who reads little looks when most such
/// reads are there, as far as the last ones tell. Thread-safe; of two who tell at the same time one may not be heard.
class ReadPace {
public:
    using microseconds = std::chrono::microseconds;
    static constexpr int looks_max = 4;
    static constexpr microseconds least{40}, most{1'000};

    /// Until the first look; nothing when reads take too long for that. Then now and then one is tried all the same.
    std::optional<microseconds> first() {
        auto const usual = usual_.load(std::memory_order_relaxed);
        if (usual <= most.count()) return microseconds{usual};
        set(usual - usual / 64);
        return std::nullopt;
    }
    /// From a look in vain to the next.
    microseconds next() const { return std::max(microseconds{usual_.load(std::memory_order_relaxed) / 2}, least); }
    /// It was there at the first look or a later one. In balance with was_not() four of five are there at the first.
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

}  // namespace garner::store::disk
