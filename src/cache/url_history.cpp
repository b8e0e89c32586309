#include "cache/url_history.hpp"

#include <algorithm>
#include <utility>

#include "cache/key.hpp"
#include "cache/parts.hpp"

namespace garner::cache {

namespace {

// limit per URL
constexpr std::size_t variants_max = 16;

}   // namespace

UrlHistory::Event UrlHistory::event(Fill const* by, Response const& response, Number at) {
    auto parts = response.object.parts();
    parts.key = response.key;
    return {.head = outline(parts), .varies_by = std::string(response.varies_by), .by = by, .at = at};
}

UrlHistory::Number UrlHistory::bound(std::vector<Event>& events, Number& forgotten) {
    if (events.size() < variants_max) return 0;
    auto const oldest = std::ranges::min_element(events, {}, &Event::at);
    auto const superseded_below = oldest->superseded_below;
    forgotten = std::max(forgotten, oldest->at);
    events.erase(oldest);
    return superseded_below;
}

void UrlHistory::give(Fill const& by, Response const& response, Number at, Number superseded_below, WallTime now) {
    auto const known = std::ranges::find_if(
        given_, [&](Event const& event) { return event.head->key() == response.key && event.varies_by == response.varies_by; });
    if (known == given_.end()) {
        forgotten_superseded_below_ = std::max(forgotten_superseded_below_, bound(given_, forgotten_));
        given_.push_back(event(&by, response, at));
        given_.back().superseded_below = superseded_below;
        return;
    }
    bool const same = is_same_representation(*known->head, response.object, now);
    if (!same && known->by != &by) known->differed_at = known->at;
    auto const differed_at = known->differed_at;
    auto const* const only_by = same && known->by != &by ? nullptr : &by;
    *known = event(only_by, response, at);
    known->differed_at = differed_at;
    known->superseded_below = superseded_below;
}

bool UrlHistory::contradicts_given(Fill const& of, Number asked, Response const& response, WallTime now) const {
    return forgotten_ > asked || std::ranges::any_of(given_, [&](Event const& event) {
               if (event.at <= asked || !event.may_be_of(response.key, response.varies_by)) return false;
               if (event.differed_at > asked) return true;
               return event.by != &of && !is_same_representation(*event.head, response.object, now);
           });
}

bool UrlHistory::is_superseded(store::Object const& object, std::string_view varies_by) const {
    auto const key = whole_of(object.key());
    return forgotten_superseded_below_ > object.sequence() || std::ranges::any_of(given_, [&](Event const& event) {
               return event.superseded_below > object.sequence() && event.may_be_of(key, varies_by);
           });
}

void UrlHistory::tell(Fill const* by, Response const& response, Number at) {
    std::erase_if(told_, [&](Event const& event) { return event.may_be_of(response.key, response.varies_by); });
    bound(told_, heads_forgotten_);
    told_.push_back(event(by, response, at));
}

bool UrlHistory::contradicts_told(Fill const& of, Number asked, Response const& response) const {
    return heads_forgotten_ > asked || std::ranges::any_of(told_, [&](Event const& event) {
               return event.at > asked && event.by != &of && event.may_be_of(response.key, response.varies_by) &&
                      contradict(*event.head, response.object);
           });
}

}   // namespace garner::cache
