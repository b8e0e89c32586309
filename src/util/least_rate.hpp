// The minimum rate of a body.
#pragma once
#include "util/bytes.hpp"
#include "util/clock.hpp"

namespace garner {

/// Even if each byte meets its deadline, a body could hold its connection and its memory for days. So there is a minimum
/// average rate.
struct LeastRate {
    Bytes per_second = 500;       // 0: no minimum rate
    milliseconds after{30'000};   // no body is too slow before this much waiting
};

/// `moved`: bytes transferred; `waited`: the total time spent waiting for the sender or receiver. Pure.
constexpr bool is_too_slow(Bytes moved, SteadyTime::duration waited, LeastRate const& least) {
    auto const whole = std::chrono::duration_cast<milliseconds>(waited);
    return whole > least.after && moved < static_cast<Bytes>(whole.count()) * least.per_second / 1'000;
}

/// The bytes transferred by one side of a body, and the time spent waiting for it.
struct Pace {
    Bytes moved = 0;
    SteadyTime::duration waited{};

    void add(Bytes bytes, SteadyTime::duration time) {
        moved += bytes;
        waited += time;
    }
    bool is_below(LeastRate const& least) const { return is_too_slow(moved, waited, least); }
};

}   // namespace garner
