// Until when this cache knows every invalidation of its group. The rules of group/gate for the cache.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>

#include "util/boot_clock.hpp"

namespace garner::cache {

/// Times are those of boot_now(). Thread-safe. Read the lease before the table of invalidations: the group renews it
/// after it has applied all invalidations.
class Lease {
public:
    using Time = microseconds;
    static constexpr Time never = Time::min() / 4;

    /// The cache is in a group from now on, and not current until renew(). Before other threads use it. Without this call it is
    /// current for ever. `held`: how long a right of the lease lasts; `spread`: until each member has applied an invalidation.
    void begin(Time held, Time spread) {
        held_ = held;
        spread_ = spread;
        until_.store(never.count(), std::memory_order_release);
    }
    bool is_in_group() const { return spread_ > Time(0); }
    void renew(Time until) { until_.store(until.count(), std::memory_order_release); }
    Time until() const { return Time(until_.load(std::memory_order_acquire)); }
    /// `cut_off: "serve"`: the cache counts as current although its lease is over.
    void set_ignored(bool ignored) { ignored_.store(ignored, std::memory_order_relaxed); }
    bool is_ignored() const { return ignored_.load(std::memory_order_relaxed); }

    /// Reads the clock after the lease: the process may have been stopped in between.
    bool is_current() const {
        auto const until = this->until();
        return until == Time::max() || boot_now() <= until || is_ignored();
    }
    Time spread() const { return spread_; }

    /// The time of a request in steps of 100 ms, rounded down, for http::Terms; 0 means none.
    static std::uint32_t step_of(Time now) { return static_cast<std::uint32_t>(std::max<Time::rep>(now / step, 0)); }
    /// Not current: whether a response is good that a request with no-cache fetched or validated, sent at this step. An
    /// invalidation of it would have been accepted later.
    bool vouches_for(std::uint32_t passed, Time now) const { return passed != 0 && now <= passed * step + held_; }

private:
    static constexpr Time step = milliseconds(100);
    std::atomic<Time::rep> until_{Time::max().count()};
    std::atomic<bool> ignored_{false};
    Time held_{0}, spread_{0};
};

}   // namespace garner::cache
