// A moving average of measurements.
#pragma once
#include <optional>

#include "util/bytes.hpp"
#include "util/clock.hpp"

namespace garner::icp {

/// Each value counts for one eighth, like in TCP (RFC 6298 2).
class Smoothed {
public:
    void add(double value) { mean_ = mean_ ? *mean_ + (value - *mean_) / 8 : value; }
    void add(microseconds time) { add(static_cast<double>(time.count())); }
    std::optional<double> mean() const { return mean_; }
    std::optional<microseconds> mean_time() const {
        return mean_ ? std::optional(microseconds{static_cast<std::int64_t>(*mean_)}) : std::nullopt;
    }

private:
    std::optional<double> mean_;
};

/// Bytes per second; nothing for a body below 64 KiB, whose time is mostly the round trip.
inline std::optional<double> throughput_of(Bytes bytes, microseconds took) {
    if (bytes < 64 * KiB || took <= microseconds{0}) return std::nullopt;
    return static_cast<double>(bytes) / std::chrono::duration<double>(took).count();
}

}   // namespace garner::icp
