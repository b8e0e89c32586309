// Lifetimes of this cache's own digest and of the peers'. Pure: times are arguments.
#pragma once
#include <optional>

#include "util/clock.hpp"

namespace garner::icp {

/// When a peer's digest is fetched next, and how long it is used.
class DigestTimes {
public:
    static constexpr milliseconds gap_min{10'000};   // least time between fetches from one peer
    static constexpr milliseconds life_default{3'600'000};
    static constexpr milliseconds delay_max{300'000};   // wait after the expiry, so that the peer has built its next digest
    static constexpr milliseconds retry_max{3'600'000};

    bool due(SteadyTime now) const { return now >= next_; }
    /// A digest arrived. `life`: its remaining freshness; nothing when the peer does not say.
    void fetched(std::optional<milliseconds> life, SteadyTime now);
    /// The fetch failed. Retried after gap_min, then after twice that, and so on.
    void failed(SteadyTime now);
    /// The last digest is older than twice its life.
    bool outlived(SteadyTime now) const { return now >= forgotten_; }
    /// The last fetch failed.
    bool fails() const { return retry_ != gap_min; }

private:
    SteadyTime next_{};
    SteadyTime forgotten_ = SteadyTime::max();
    milliseconds retry_ = gap_min;
};

/// How long a digest built now is valid: `rebuild`, but at most the uptime, since a young cache grows fast; at least one
/// minute.
milliseconds life_of_digest(SteadyTime::duration uptime, milliseconds rebuild);

}   // namespace garner::icp
