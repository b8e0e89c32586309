// The durations of the protocol. All follow from the lease.
#pragma once
#include "util/clock.hpp"

namespace garner::group {

/// Time since the boot of the machine, which steps of the wall clock do not change and which goes on during its sleep
/// (CLOCK_BOOTTIME).
using Time = microseconds;
inline constexpr Time never = Time::min() / 4;

/// Clocks differ by at most 1 %. A right that ends with the lease is held for a fiftieth less, so that it is over on every other
/// clock when the lease has passed there.
struct Times {
    Time lease = seconds(2);

    Time held() const { return lease - lease / 50; }
    Time to_store() const { return held(); }   // until a majority has stored a submission
    Time poll() const { return lease / 8; }
    Time silence() const { return lease / 2; }   // then the connection is made anew
    Time retry() const { return lease / 8; }     // between two attempts to connect
    /// After an invalidation: until each member has applied it or validates.
    Time spread() const { return 2 * lease; }
};

}   // namespace garner::group
