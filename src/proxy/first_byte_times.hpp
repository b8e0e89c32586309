// How long origins usually take until the head of a response.
#pragma once
#include <algorithm>
#include <array>
#include <optional>

#include "icp/smoothed.hpp"
#include "util/clock.hpp"
#include "util/hash.hpp"

namespace garner::proxy {

/// Bounded: an origin whose fingerprint maps to the same entry replaces the previous one. Belongs to one worker.
class FirstByteTimes {
public:
    void add(Fingerprint origin, milliseconds took) {
        auto& entry = entries_[origin % entries_.size()];
        if (entry.origin != origin) entry = {origin, {}};
        entry.mean.add(static_cast<double>(took.count()));
    }
    /// Nothing for an unknown origin.
    std::optional<milliseconds> usual(Fingerprint origin) const {
        auto const& entry = entries_[origin % entries_.size()];
        auto const mean = entry.origin == origin ? entry.mean.mean() : std::nullopt;
        if (!mean) return std::nullopt;
        return milliseconds{static_cast<std::int64_t>(*mean)};
    }

private:
    struct Entry {
        Fingerprint origin = 0;
        icp::Smoothed mean;
    };
    std::array<Entry, 1'024> entries_{};
};

/// How long a follower waits for its leader's response head before it fetches in parallel: four times the origin's usual
/// time, at least `least`, at most 10 s more than `least`. Requests for slow responses raise the usual time, so that time
/// has an upper bound here.
constexpr milliseconds follow_patience(milliseconds least, std::optional<milliseconds> usual) {
    return std::max(least, std::min(4 * usual.value_or(milliseconds{0}), least + seconds{10}));
}

}   // namespace garner::proxy
