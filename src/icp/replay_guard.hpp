// Signed messages that were executed: a copy must not be executed again.
#pragma once
#include <cstdint>
#include <deque>
#include <string_view>
#include <unordered_set>

#include "util/bytes.hpp"
#include "util/clock.hpp"
#include "util/mutex.hpp"

namespace garner::icp {

/// Thread-safe, for all workers: a copy may arrive at any of them. Bounded; when full, the oldest message is forgotten.
class ReplayGuard {
public:
    /// `life`: how long after its first arrival a copy of a message would still be valid.
    explicit ReplayGuard(seconds life, std::size_t most = 65'536) : life_(life), most_(most) {}

    /// True when no message with this signature arrived within `life` before `now`. Records the signature.
    bool is_first(std::string_view signature, WallTime now);
    /// The memory of the signatures, approximately, and its bound.
    Bytes bytes();
    Bytes bytes_max() const { return most_ * entry_bytes; }

private:
    struct Seen {
        WallTime at;
        std::uint64_t signature;
    };
    static constexpr Bytes entry_bytes = 64;
    void forget_oldest() REQUIRES(mutex_);

    seconds const life_;
    std::size_t const most_;
    Mutex mutex_;
    std::deque<Seen> order_ GUARDED_BY(mutex_);
    std::unordered_set<std::uint64_t> known_ GUARDED_BY(mutex_);
};

}   // namespace garner::icp
