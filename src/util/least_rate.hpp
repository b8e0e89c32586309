// How slowly a body may move.
#pragma once
#include "util/bytes.hpp"
#include "util/clock.hpp"

namespace garner {

/// Each byte of a body may be in time and the body still hold its connection and its memory for days: so there is a least
/// rate on average.
struct LeastRate {
    Bytes per_second = 500;        // 0: no least rate
    milliseconds after{30'000};    // until so long was waited nothing is too slow
};

/// `moved` bytes came or went while their sender or receiver was waited for, for so long in all. Pure.
constexpr bool is_too_slow(Bytes moved, SteadyTime::duration waited, LeastRate const& least) {
    auto const whole = std::chrono::duration_cast<milliseconds>(waited);
    return whole > least.after && moved < static_cast<Bytes>(whole.count()) * least.per_second / 1'000;
}

/// What one side of a body has moved, and how long it was waited for.
struct Pace {
    Bytes moved = 0;
    SteadyTime::duration waited{};

    void add(Bytes bytes, SteadyTime::duration time) {
        moved += bytes;
        waited += time;
    }
    bool is_below(LeastRate const& least) const { return is_too_slow(moved, waited, least); }
};

}  // namespace garner
