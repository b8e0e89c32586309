// The promise, checked for every answer: docs/guides/groups.md.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "group/events.hpp"
#include "group/notice.hpp"
#include "group/stored_responses.hpp"

namespace garner::group::simulated {

/// The origin's versions, and the invalidations that were submitted.
class Judge {
public:
    Judge(unsigned urls, unsigned voters, Moment lease)
        : versions_(urls, 1), demands_(urls), majority_(voters / 2 + 1), lease_(lease) {}

    unsigned version(unsigned url) const { return versions_[url]; }
    void change(unsigned url) { ++versions_[url]; }
    unsigned urls() const { return static_cast<unsigned>(versions_.size()); }

    void submitted(NoticeId const& id, cache::Invalidation const& what, Moment now) {
        Submitted one{.what = what, .at = now, .versions = {}, .stored_at = {}};
        for (unsigned url = 0; url < urls(); ++url)
            if (covers(what, url)) one.versions.push_back({url, versions_[url]});
        submitted_.emplace(id, std::move(one));
    }
    /// A voter has stored it. Counts each voter once.
    void stored(NoticeId const& id, std::uint32_t voter, Moment now) {
        auto& one = submitted_.at(id);
        if (std::ranges::find(one.stored_at, voter) != one.stored_at.end()) return;
        one.stored_at.push_back(voter);
        bool const in_time = now <= one.at + lease_ - lease_ / 50;
        if (in_time && one.stored_at.size() == majority_) demand(one, now + lease_);
    }
    void accepted(NoticeId const& id, Moment now) {
        ++accepted_count;
        demand(submitted_.at(id), now + lease_);
    }
    /// Confirmed of all members that are current.
    void confirmed(NoticeId const& id, Moment now) { demand(submitted_.at(id), now, true); }
    Moment submitted_at(NoticeId const& id) const { return submitted_.at(id).at; }
    bool knows(NoticeId const& id) const { return submitted_.contains(id); }

    /// Empty, or what is wrong with an answer to a request that began at `began`.
    std::string verdict(unsigned url, unsigned version, bool is_stale, bool is_current, Moment began) const {
        for (auto const& demand : demands_[url])
            if (demand.from < began && version < demand.version && !(is_stale && demand.soft) && (is_current || !demand.of_current))
                return "URL " + std::to_string(url) + " has version " + std::to_string(version) + (is_stale ? " (stale)" : "") +
                       ", but " + std::to_string(demand.version) + " is due since " + std::to_string(demand.from) + " us";
        return {};
    }

    std::uint64_t accepted_count = 0;

private:
    struct Version {
        unsigned url = 0, version = 0;
    };
    struct Submitted {
        cache::Invalidation what;
        Moment at = 0;
        std::vector<Version> versions;
        std::vector<std::uint32_t> stored_at;
    };
    struct Demand {
        Moment from = 0;
        unsigned version = 0;
        bool soft = false;
        bool of_current = false;   // other members may answer so
    };

    void demand(Submitted const& one, Moment from, bool of_current = false) {
        for (auto const& [url, version] : one.versions) demands_[url].push_back({from, version, one.what.soft, of_current});
    }

    std::vector<unsigned> versions_;
    std::vector<std::vector<Demand>> demands_;   // by URL
    std::map<NoticeId, Submitted> submitted_;
    std::size_t majority_;
    Moment lease_;
};

}   // namespace garner::group::simulated
