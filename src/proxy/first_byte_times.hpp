// How long origins usually take to the head of a response.
#pragma once
#include <algorithm>
#include <array>
#include <optional>

#include "icp/smoothed.hpp"
#include "util/clock.hpp"
#include "util/hash.hpp"

namespace garner::proxy {

/// Bounded: one origin takes the entry of another whose fingerprint has the same entry. Belongs to one worker.
class FirstByteTimes {
public:
    void add(Fingerprint origin, milliseconds took) {
        auto& entry = entries_[origin % entries_.size()];
        if (entry.origin != origin) entry = {origin, {}};
        entry.mean.add(static_cast<double>(took.count()));
    }
    /// Nothing for an origin that is not known.
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

/// How long a follower waits for its leader's response head before it fetches beside it: four times what the origin usually
/// takes, but not less than `least` and not more than 10 s beyond it. A client that asks for slow responses raises the usual
/// time, so it does not decide alone.
constexpr milliseconds follow_patience(milliseconds least, std::optional<milliseconds> usual) {
    return std::max(least, std::min(4 * usual.value_or(milliseconds{0}), least + seconds{10}));
}

}  // namespace garner::proxy
