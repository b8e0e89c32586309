// The offers that this member knows, and the progress of their fetches.
#pragma once
#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "group/offer.hpp"
#include "group/state.hpp"
#include "util/ip.hpp"
#include "util/mutex.hpp"

namespace garner::group {

/// Thread-safe.
class MemberOffers {
public:
    /// True if the offer is new. `is_own`: of this member.
    bool add(Offer const& offer, bool is_own) EXCLUDES(mutex_);
    void end_concerned(cache::Invalidation const& what) EXCLUDES(mutex_);
    void note_fetch(std::string_view url, std::string state) EXCLUDES(mutex_);

    /// An offer of this URL is in force. Costs one load if there is none of any.
    bool has(std::string_view url) const EXCLUDES(mutex_);
    /// As Group::parents_of.
    std::vector<IpEndpoint> parents_of(std::string_view url) const EXCLUDES(mutex_);
    /// Those in force, oldest first.
    std::vector<GroupState::OfferRow> rows(Time now) EXCLUDES(mutex_);

private:
    struct Progress {
        bool is_own = false;
        std::string text = {};
    };

    mutable Mutex mutex_;
    Offers<Progress> offers_ GUARDED_BY(mutex_);
    std::atomic<std::size_t> held_{0};
};

}   // namespace garner::group
