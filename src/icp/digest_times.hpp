// How long digests are good: ours, and those of the peers. Pure: times are handed in.
#pragma once
#include <optional>

#include "util/clock.hpp"

namespace garner::icp {

/// When a peer's digest is asked for next, and how long it is believed.
class DigestTimes {
public:
    static constexpr milliseconds gap_min{10'000};        // between fetches from one peer, at the least
    static constexpr milliseconds life_default{3'600'000};
    static constexpr milliseconds delay_max{300'000};     // after it has expired, so that the next one is made
    static constexpr milliseconds retry_max{3'600'000};

    bool due(SteadyTime now) const { return now >= next_; }
    /// One came. `life`: as long as it is fresh yet; nothing when the peer does not say.
    void fetched(std::optional<milliseconds> life, SteadyTime now);
    /// None came. Asked again after gap_min, then after twice that, and so on.
    void failed(SteadyTime now);
    /// What came last is older than twice its life.
    bool outlived(SteadyTime now) const { return now >= forgotten_; }
    /// The last try failed.
    bool fails() const { return retry_ != gap_min; }

private:
    SteadyTime next_{};
    SteadyTime forgotten_ = SteadyTime::max();
    milliseconds retry_ = gap_min;
};

/// Until when a digest made now is good: `rebuild`, but less while there is not much in the cache and it grows fast: then
/// as long as we run already, and a minute at the least.
milliseconds life_of_digest(SteadyTime::duration uptime, milliseconds rebuild);

}  // namespace garner::icp
