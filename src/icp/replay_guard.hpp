// Signed messages that have been obeyed: a copy of one must not be obeyed again.
#pragma once
#include <cstdint>
#include <deque>
#include <string_view>
#include <unordered_set>

#include "util/clock.hpp"
#include "util/mutex.hpp"

namespace garner::icp {

/// Thread-safe, for all workers: a copy may arrive at any of them. Bounded; a full one forgets the oldest message.
class ReplayGuard {
public:
    /// `life`: how long after its first arrival a copy of a message would still be believed.
    explicit ReplayGuard(seconds life, std::size_t most = 65'536) : life_(life), most_(most) {}

    /// True when no message with this signature has come within `life` before `now`; it has from now on.
    bool is_first(std::string_view signature, WallTime now);

private:
    struct Seen {
        WallTime at;
        std::uint64_t signature;
    };
    void forget_oldest() REQUIRES(mutex_);

    seconds const life_;
    std::size_t const most_;
    Mutex mutex_;
    std::deque<Seen> order_ GUARDED_BY(mutex_);
    std::unordered_set<std::uint64_t> known_ GUARDED_BY(mutex_);
};

}  // namespace garner::icp
