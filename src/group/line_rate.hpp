// The rate of a line, measured by transfers over it. Pure.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "util/clock.hpp"

namespace garner::group {

/// The 90th percentile of the last transfers: most of them are limited by the other end, or by each other.
class LineRate {
public:
    static constexpr std::uint64_t bytes_least = 1 << 20;   // a shorter transfer says little about the line
    static constexpr std::size_t kept = 64, needed = 8;
    static constexpr std::uint64_t fastest = 12'500'000'000;   // 100 Gbit/s: faster transfers ended in buffers of this machine

    void add(std::uint64_t bytes, microseconds took) {
        constexpr std::uint64_t micros = 1'000'000;
        if (bytes < bytes_least || bytes > UINT64_MAX / micros || took <= microseconds(0)) return;
        auto const rate = bytes * micros / static_cast<std::uint64_t>(took.count());
        if (rate <= fastest) rates_[count_++ % kept] = rate;
    }
    /// Bytes a second; 0 until there are enough transfers.
    std::uint64_t p90() const {
        auto const size = std::min(count_, kept);
        if (size < needed) return 0;
        auto sorted = rates_;
        std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(size));
        return sorted[size * 9 / 10];
    }

private:
    std::array<std::uint64_t, kept> rates_{};
    std::size_t count_ = 0;
};

/// A change that is worth telling the voters.
inline bool is_other_rate(std::uint64_t told, std::uint64_t now) {
    constexpr std::uint64_t part = 4;
    return std::max(told, now) - std::min(told, now) > std::max(told, now) / part;
}

}   // namespace garner::group
