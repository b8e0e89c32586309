// An object that a member offers to the others of its group, and the offers in force. Pure.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cache/invalidation.hpp"
#include "group/times.hpp"

namespace garner::group {

struct Offer {
    std::string url = {};         // http://, in normal form
    std::string validator = {};   // its entity tag or Last-Modified
    std::uint64_t length = 0;     // bytes; 0: unknown
    std::uint32_t life = 0;       // seconds that it stays fresh, when the message is sent; 0: the offer has ended
    /// From a voter: the proxies to ask for it, nearest first. Empty: this member asks the origin.
    std::vector<std::string> parents = {};
    friend bool operator==(Offer const&, Offer const&) = default;
};

inline constexpr std::size_t offer_url_max = 8 << 10, offer_validator_max = 512, offer_parents_max = 4, proxy_address_max = 256;

/// Both offer the same object. The length is unknown while the object is received.
inline bool are_same(Offer const& a, Offer const& b) {
    return a.url == b.url && a.validator == b.validator && (a.length == b.length || a.length == 0 || b.length == 0);
}

/// The offer may be sent: each part has at most its length.
inline bool is_sendable(Offer const& offer) {
    return !offer.url.empty() && offer.url.size() <= offer_url_max && offer.validator.size() <= offer_validator_max &&
           offer.parents.size() <= offer_parents_max &&
           std::ranges::all_of(offer.parents, [](auto const& one) { return one.size() <= proxy_address_max; });
}

/// The invalidation may concern the object. The tags of an object are not in its offer, so a tag counts for its whole origin.
inline bool may_concern(cache::Invalidation const& what, std::string_view url) {
    using Kind = cache::Invalidation::Kind;
    switch (what.kind) {
    case Kind::url: return url == what.text;
    case Kind::prefix: return url.starts_with(what.text);
    case Kind::tag: return what.origin.empty() || (url.starts_with(what.origin) && url.substr(what.origin.size()).starts_with('/'));
    case Kind::all: return true;
    }
    return true;
}

/// The offers in force. The caller gives the time, which never goes back. The oldest go beyond either limit.
template <class Tag>
class Offers {
public:
    Offers() = default;
    Offers(Offers const&) = delete;
    static constexpr std::size_t most = 1'024;
    static constexpr std::size_t bytes_max = 4 << 20;
    struct Held {
        Tag tag = {};
        Offer offer;
        Time ends{};
    };

    /// False if the same object is offered already, or if the offer has ended. An offer of another object with this URL ends.
    bool add(Tag tag, Offer offer, Time now) {
        end_old(now);
        if (offer.life == 0) return false;
        auto const* const known = find(offer.url);
        if (known && are_same(known->offer, offer)) return false;
        if (known) end(by_url_.at(offer.url));
        bytes_ += bytes_of(offer);
        auto const ends = now + std::chrono::seconds(offer.life);
        held_.push_back({std::move(tag), std::move(offer), ends});
        auto const added = std::prev(held_.end());
        by_url_.emplace(added->offer.url, added);
        while (held_.size() > most || bytes_ > bytes_max) end(held_.begin());
        return true;
    }
    void end_concerned(cache::Invalidation const& what) {
        end_if([&](Held const& one) { return may_concern(what, one.offer.url); });
    }
    void end_old(Time now) {
        end_if([&](Held const& one) { return now >= one.ends; });
    }
    /// nullptr: there is none. Valid until the next change.
    Held const* find(std::string_view url) const {
        auto const found = by_url_.find(url);
        return found == by_url_.end() ? nullptr : &*found->second;
    }
    Held* find(std::string_view url) { return const_cast<Held*>(std::as_const(*this).find(url)); }
    std::list<Held> const& all() const { return held_; }

private:
    static std::size_t bytes_of(Offer const& offer) {
        std::size_t bytes = sizeof(Held) + offer.url.size() + offer.validator.size();
        for (auto const& parent : offer.parents) bytes += sizeof parent + parent.size();
        return bytes;
    }
    template <class Condition>
    void end_if(Condition ends) {
        for (auto at = held_.begin(); at != held_.end();) {
            auto const one = at++;
            if (ends(*one)) end(one);
        }
    }
    void end(typename std::list<Held>::iterator one) {
        by_url_.erase(one->offer.url);
        bytes_ -= bytes_of(one->offer);
        held_.erase(one);
    }

    std::list<Held> held_;                                                              // oldest first
    std::unordered_map<std::string_view, typename std::list<Held>::iterator> by_url_;   // the keys are in `held_`
    std::size_t bytes_ = 0;
};

/// The seconds that an offer has left, for a message.
inline std::uint32_t life_left(Time ends, Time now) {
    auto const left = std::chrono::duration_cast<std::chrono::seconds>(ends - now).count();
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(left, 0, UINT32_MAX));
}

}   // namespace garner::group
