// Limits what a client may send that costs work and carries neither a request nor data.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>

#include "util/clock.hpp"

namespace garner::h2 {

/// Counts the glitches of one connection: control frames, empty frames, refused requests, streams reset. Pure.
class Glitches {
public:
    /// `per_second`: the sustained rate; ten seconds' worth may come at once. 0: no limit.
    explicit Glitches(std::uint32_t per_second) {
        if (per_second > 0) interval_ = std::chrono::nanoseconds(seconds{1}) / per_second;
    }
    /// Counts one. False: the client has sent too many.
    bool add(SteadyTime now) {
        paid_until_ = std::max(paid_until_, now) + interval_;
        return paid_until_ - now <= burst;
    }

private:
    static constexpr seconds burst{10};
    std::chrono::nanoseconds interval_{0};
    SteadyTime paid_until_{};   // when the glitches so far are made up for
};

}   // namespace garner::h2
