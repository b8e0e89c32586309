// Which stored responses a member may use: the rules of the cache. Pure.
#pragma once
#include <atomic>
#include <cstdint>

#include "group/mutant.hpp"
#include "group/times.hpp"

namespace garner::group {

/// Until when the member is current. Written by the thread of the group, read by all. Read it before the table of invalidations.
class Gate {
public:
    void renew(Time until) { until_.store(until.count(), std::memory_order_release); }
    Time until() const { return Time(until_.load(std::memory_order_acquire)); }
    bool is_open(Time now) const { return now <= until(); }

private:
    std::atomic<Time::rep> until_{never.count()};
};

/// The newest invalidation that a stored response is outdated by.
enum class Outdated : std::uint8_t { no, soft, watermark, hard };

/// A stored response, or a fetch that a request may join.
struct Held {
    Outdated outdated = Outdated::no;
    bool is_fresh = false;   // by HTTP's rules
    Time passed = never;     // when the request that fetched or validated it was sent, if that request passed all caches (no-cache)
};

enum class Use : std::uint8_t { serve, validate, fetch };

/// Cut off, a response is good for a lease from the request that passed all caches: an invalidation of it was accepted later.
inline bool is_vouched_for(Held const& stored, bool is_current, Times const& times, Time now) {
    if (is_current || is_mutant(Mutant::any_fetch_counts)) return true;
    return now <= stored.passed + times.held();
}

/// The use for a request of a client or another cache.
inline Use use_of(Held const& stored, bool is_current, Times const& times, Time now) {
    if (stored.outdated == Outdated::hard) return Use::fetch;
    bool const serves = stored.outdated == Outdated::no && stored.is_fresh && is_vouched_for(stored, is_current, times, now);
    return serves ? Use::serve : Use::validate;
}

/// Whether a stale response may be served when the origin cannot be reached, as far as the group is concerned.
inline bool may_serve_on_error(Held const& stored, bool is_current) {
    return (stored.outdated <= Outdated::soft && is_current) || is_mutant(Mutant::stale_on_error);
}

/// Whether a request goes out with no-cache, and to no sibling: another cache may not know the invalidation yet. `matched`: when the
/// latest one of this URL was applied here; `raised`: when the watermark was raised.
inline bool must_pass_caches(Time matched, Time raised, bool is_current, Times const& times, Time now) {
    if (is_mutant(Mutant::no_pass_after_match)) matched = never;
    if (is_mutant(Mutant::no_pass_after_watermark)) raised = never;
    return !is_current || now <= matched + times.spread() || now <= raised + times.spread();
}

}   // namespace garner::group
