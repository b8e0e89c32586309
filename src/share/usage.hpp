// The use of a quota in its window. Pure.
#pragma once
#include <cstdint>

#include "util/bytes.hpp"

namespace garner::share {

/// A day, week or month of local time, in seconds since 1970.
struct Window {
    std::int64_t begin = 0, end = 0;
    bool contains(std::int64_t time) const { return begin <= time && time < end; }
};

/// The number of the minute since 1970; 0 before.
constexpr std::uint32_t minute_of(std::int64_t time) { return time < 0 ? 0 : static_cast<std::uint32_t>(time / 60); }

/// The use of one subject since the window began. All times are seconds since 1970.
struct Usage {
    std::int64_t begin = 0;   // of the window
    Bytes bytes = 0;
    std::uint32_t requests = 0;
    std::uint32_t minutes = 0;       // in which something moved
    std::uint32_t last_minute = 0;   // the last one of them, since 1970

    bool is_empty() const { return bytes == 0 && requests == 0 && minutes == 0; }
    /// Begins anew in a later window. When the clock was set back to an earlier one, the use belongs to that.
    void enter(Window const& window);
    /// Counts what moved at `now`, in the window that was entered.
    void count(Bytes moved, std::int64_t now);
    /// Adds what another process has counted. A later window replaces this one, and an older one counts for nothing.
    void add(Usage const& more);
    friend bool operator==(Usage const&, Usage const&) = default;
};

}   // namespace garner::share
