// The clocks: wall time for HTTP's dates, steady time for deadlines, processor time for measurements.
#pragma once
#include <time.h>

#include <chrono>
#include <cstdint>

namespace garner {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// A moment of wall time, to the millisecond. HTTP's own dates are whole seconds.
using WallTime = std::chrono::sys_time<std::chrono::milliseconds>;

/// A moment that never jumps; for deadlines and durations.
using SteadyTime = std::chrono::steady_clock::time_point;

inline WallTime wall_now() { return std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now()); }

inline SteadyTime steady_now() { return std::chrono::steady_clock::now(); }

/// Processor time of this thread, in seconds.
inline double thread_seconds() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Whole seconds since 1970-01-01T00:00:00Z, rounded down.
constexpr std::int64_t unix_seconds(WallTime time) {
    return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
}

constexpr WallTime from_unix_seconds(std::int64_t value) { return WallTime{seconds{value}}; }

}   // namespace garner
