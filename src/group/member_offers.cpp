#include "group/member_offers.hpp"

#include <utility>

#include "group/proxy_place.hpp"
#include "group/shown.hpp"
#include "util/boot_clock.hpp"

namespace garner::group {

bool MemberOffers::add(Offer const& offer, bool is_own) {
    MutexLock const lock(mutex_);
    char const* const text = is_own ? "offered by this member" : "waits";
    bool const is_new = offers_.add({.is_own = is_own, .text = text}, offer, boot_now());
    held_ = offers_.all().size();
    return is_new;
}

void MemberOffers::end_concerned(cache::Invalidation const& what) {
    if (held_ == 0) return;
    MutexLock const lock(mutex_);
    offers_.end_concerned(what);
    held_ = offers_.all().size();
}

void MemberOffers::note_fetch(std::string_view url, std::string state) {
    MutexLock const lock(mutex_);
    if (auto* const held = offers_.find(url)) held->tag.text = std::move(state);
}

bool MemberOffers::has(std::string_view url) const {
    if (held_ == 0) return false;
    MutexLock const lock(mutex_);
    auto const* const held = offers_.find(url);
    return held && boot_now() < held->ends;
}

std::vector<IpEndpoint> MemberOffers::parents_of(std::string_view url) const {
    std::vector<IpEndpoint> parents;
    if (held_ == 0) return parents;
    MutexLock const lock(mutex_);
    auto const* const held = offers_.find(url);
    if (!held || boot_now() >= held->ends) return parents;
    for (auto const& text : held->offer.parents)
        if (auto const place = proxy_place_in(text)) parents.push_back(*place);
    return parents;
}

std::vector<GroupState::OfferRow> MemberOffers::rows(Time now) {
    MutexLock const lock(mutex_);
    offers_.end_old(now);
    held_ = offers_.all().size();
    std::vector<GroupState::OfferRow> rows;
    for (auto const& held : offers_.all()) {
        GroupState::OfferRow row{.url = shown(held.offer.url, offer_url_max),
                                 .validator = shown(held.offer.validator),
                                 .length = held.offer.length,
                                 .left = held.ends - now,
                                 .is_own = held.tag.is_own,
                                 .parents = {},
                                 .state = shown(held.tag.text, 300)};
        for (auto const& parent : held.offer.parents) row.parents.push_back(shown(parent));
        rows.push_back(std::move(row));
    }
    return rows;
}

}   // namespace garner::group
