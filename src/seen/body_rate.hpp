// How slowly a body may come.
#pragma once
#include "util/bytes.hpp"
#include "util/clock.hpp"

namespace garner::seen {

/// Below 1 KiB a second on average, once `patience` has passed: each byte of a body may be in time and the body still hold
/// its connection and its memory for days. Pure.
constexpr bool is_too_slow(Bytes received, milliseconds took, milliseconds patience) {
    return took > patience && received < static_cast<Bytes>(took.count()) * KiB / 1'000;
}

}  // namespace garner::seen
