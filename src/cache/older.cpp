// What a newer answer leaves of older ones: nothing that could answer in its place, in memory, on disk, or still on its way.
#include <algorithm>

#include "cache/cache.hpp"
#include "cache/parts.hpp"

namespace garner::cache {

namespace {

// That a fetch remembers what others were told of.
constexpr std::size_t variants_max = 16;

bool is_part(store::Object const& object) {
    bool const grows = object.body() && object.body()->state() != store::Body::State::complete;
    return object.status() == 206 || (!grows && is_incomplete(object));
}

bool is_marker_of(store::Object const* object, std::string_view names) {
    return object && object->kind() == store::Object::Kind::vary_marker && object->head() == names;
}

}  // namespace

bool Cache::supersede_on_disk(Fill& by, store::Object const& newer, http::VaryNames const& vary,
                              store::ObjectPtr const& known_parts) {
    if (!disk_) return false;
    auto& shard = this->shard(by.primary());
    std::vector<store::ObjectPtr> gone;
    MutexLock const lock(shard.mutex);
    auto names = http::to_string(vary);
    // What was stored since a purge that came meanwhile may be older as well.
    bool const is_sure = by.in_shard(shard.mutex).attached && !contradicts_rival(shard, by, newer, newer.key(), names);
    if (!is_sure) drop_different(shard, newer, gone);
    note_bytes(shard, by.primary());
    by.in_shard(shard.mutex).newest = is_sure ? newer.sequence() : UINT64_MAX;
    note_rival(shard, by, newer, names);
    return forget_older(shard, {by, newer, newer.key(), std::move(names), known_parts});
}

void Cache::heard(Key const& key, store::ObjectPtr const& head, http::VaryNames const& vary, Fill const* by) {
    auto const names = http::to_string(vary);
    auto& shard = this->shard(key.fingerprint);
    MutexLock const lock(shard.mutex);
    detach_if(shard, key.fingerprint, [&](Fill& fill) {
        shard.mutex.assert_held();   // by this function
        if (fill.key() != key.text || &fill == by) return false;
        hear(fill.in_shard(shard.mutex).heard, {head, names});
        auto const view = fill.view();
        return view.phase == FillView::Phase::body &&
               contradicts_heard(shard, fill, *view.object, view.object->key(), fill.varies_by());
    });
}

/// What was told last of each variant counts.
void Cache::hear(std::vector<Fill::Given>& heard, Fill::Given told) {
    std::erase_if(heard, [&](Fill::Given const& given) { return given.may_be_of(told.object->key(), told.varies_by); });
    if (heard.size() >= variants_max) heard.erase(heard.begin());
    heard.push_back(std::move(told));
}

bool Cache::contradicts_heard(Shard const& shard, Fill const& fill, store::Object const& object, std::string_view text,
                              std::string_view names) {
    return std::ranges::any_of(fill.in_shard(shard.mutex).heard, [&](Fill::Given const& given) {
        return given.may_be_of(text, names) && contradict(*given.object, object);
    });
}

/// Its head has come, and what somebody was told by a HEAD meanwhile is of something else. Which of the two is newer nobody
/// knows: neither that is joined, nor what is older than that stays.
void Cache::detach_contradicted(Fill& fill) {
    auto& shard = this->shard(fill.primary());
    std::vector<store::ObjectPtr> gone;
    MutexLock const lock(shard.mutex);
    if (fill.in_shard(shard.mutex).heard.empty()) return;   // as a rule
    auto const view = fill.view();
    auto names = fill.varies_by();
    if (!fill.in_shard(shard.mutex).attached || !contradicts_heard(shard, fill, *view.object, view.object->key(), names)) return;
    drop_older(shard, {fill, *view.object, view.object->key(), std::move(names), nullptr}, gone);
    fill.in_shard(shard.mutex).attached = false;
    unregister(shard, fill);
}

/// A client gets `object`, which `by` has fetched. The URL's other fetches in progress remember it.
void Cache::note_rival(Shard& shard, Fill const& by, store::Object const& object, std::string const& names) {
    auto const now = wall_now();
    auto [first, last] = shard.fills.equal_range(by.primary());
    for (; first != last; ++first) {
        auto& other = *first->second;
        if (&other == &by || other.key() != by.key()) continue;
        auto& seen = other.in_shard(shard.mutex);
        bool known = false;
        for (auto& given : seen.rivals) {
            if (!given.may_be_of(object.key(), names)) continue;
            known = known || given.object->key() == object.key();
            given.several = given.several || !is_same_representation(*given.object, object, now);
        }
        if (known) continue;
        if (seen.rivals.size() < variants_max)
            seen.rivals.push_back({outline(object.parts()), names});
        else
            seen.too_many_rivals = true;
    }
}

/// Of two fetches that were under way at the same time nobody knows which response the origin made first: the one that
/// came last may have waited longer. Where they differ neither is kept.
bool Cache::contradicts_rival(Shard const& shard, Fill const& fill, store::Object const& object, std::string_view text,
                              std::string_view names) {
    auto const& seen = fill.in_shard(shard.mutex);
    auto const now = wall_now();
    return seen.too_many_rivals || std::ranges::any_of(seen.rivals, [&](Fill::Given const& given) {
        return given.may_be_of(text, names) && (given.several || !is_same_representation(*given.object, object, now));
    });
}

/// From memory, whichever is older.
void Cache::drop_different(Shard& shard, store::Object const& object, std::vector<store::ObjectPtr>& gone) {
    for (auto const& text : {std::string(object.key()), parts_text(object.key())}) {
        auto const there = shard.find(fingerprint(text, seed_), text);
        bool const is_response = there && there.object->kind() == store::Object::Kind::response;
        if (is_response && !is_same_representation(*there.object, object, wall_now()))
            gone.push_back(shard.remove(there.slot, policy::Left::replaced));
    }
}

void Cache::supersede_in_memory(Fill& by, store::Object const& newer, http::VaryNames const& vary) {
    auto& shard = this->shard(by.primary());
    std::vector<store::ObjectPtr> gone;
    MutexLock const lock(shard.mutex);
    if (by.in_shard(shard.mutex).attached) drop_older(shard, {by, newer, newer.key(), http::to_string(vary), nullptr}, gone);
}

/// From memory; and what is still on its way.
void Cache::drop_older(Shard& shard, Newcomer const& newcomer, std::vector<store::ObjectPtr>& gone) {
    auto const& [by, newer, text, names, known_parts] = newcomer;
    Key const key{by.key(), by.primary()};
    bool const part = is_part(newer);
    auto const now = wall_now();
    auto is_older = [&](Shard::Found there) { return there && there.object->sequence() < newer.sequence(); };
    auto remove = [&](Shard::Found there) REQUIRES(shard.mutex) {
        gone.push_back(shard.remove(there.slot, policy::Left::replaced));
    };
    auto find = [&](std::string_view of) REQUIRES(shard.mutex) { return shard.find(fingerprint(of, seed_), of); };

    auto const at_primary = shard.find(key.fingerprint, key.text);
    bool const is_other_vary = at_primary && !is_marker_of(at_primary.object, names);
    bool const is_marker = at_primary && at_primary.object->kind() == store::Object::Kind::vary_marker;
    if (is_other_vary && (is_marker || !names.empty()) && is_older(at_primary)) {
        shard.drop_variants(key.fingerprint, gone);
        remove(shard.find(key.fingerprint, key.text));
        if (auto parts = drop_parts(shard, key, policy::Left::replaced)) gone.push_back(std::move(parts));
    }
    auto const whole = find(text);
    if (is_older(whole) && !(part && outranks_parts(*whole.object, newer, now))) remove(whole);
    auto const parts = find(parts_text(text));
    if (is_older(parts) && !(part && is_same_representation(*parts.object, newer, now))) remove(parts);
    note_bytes(shard, key.fingerprint);
    detach_older(shard, newcomer);
}

/// Somebody may have been given a beginning of what is not stored: what is older than that answers without the origin only
/// on a day when there is no reaching it. A refresh that nobody follows leaves what there is.
void Cache::outdate_older(Fill const& fill) {
    auto const newer = fill.view().object;
    bool const for_nobody = fill.refreshes_ && !fill.is_given();
    if (!newer || newer->status() == 206 || for_nobody) return;
    drop_other_variants(fill, *newer);
    for (auto const& text : {std::string(newer->key()), fill.key()}) {
        outdate(text, fill.primary(), *newer);
        outdate(parts_text(text), fill.primary(), *newer);
    }
}

/// Those that were found by another Vary. They do not stay: each would have to be outdated.
void Cache::drop_other_variants(Fill const& fill, store::Object const& newer) {
    auto const names = fill.varies_by();
    auto& shard = this->shard(fill.primary());
    std::vector<store::ObjectPtr> gone;
    MutexLock const lock(shard.mutex);
    auto const marker = shard.find(fill.primary(), fill.key());
    if (!marker || marker.object->kind() != store::Object::Kind::vary_marker) return;
    if (is_marker_of(marker.object, names) || marker.object->sequence() > newer.sequence()) return;
    shard.drop_variants(fill.primary(), gone);
    gone.push_back(shard.remove(shard.find(fill.primary(), fill.key()).slot, policy::Left::replaced));
    note_bytes(shard, fill.primary());
}

void Cache::outdate(std::string_view text, Fingerprint primary, store::Object const& newer) {
    auto const older = find(text, primary);
    auto const now = wall_now();
    bool const is_older = older && older->kind() == store::Object::Kind::response && older->sequence() < newer.sequence();
    if (!is_older || is_same_representation(*older, newer, now)) return;
    auto const reuse = http::may_reuse(older->terms(), {}, now).reuse;
    if (reuse != http::Reuse::fresh && reuse != http::Reuse::stale_while_revalidate) return;
    auto stale = make_object(outdated(*older), primary);   // evicts, so not under the lock
    auto& shard = this->shard(primary);
    store::ObjectPtr gone;
    MutexLock const lock(shard.mutex);
    auto const there = shard.find(fingerprint(text, seed_), text);
    if (there.object != older.get()) return;
    gone = stale ? shard.freshen(there.slot, std::move(stale)) : shard.remove(there.slot, policy::Left::replaced);
    note_bytes(shard, primary);
}

/// Fetches that began before: they neither store nor lead anybody any more. Those who follow them read on.
void Cache::detach_older(Shard& shard, Newcomer const& newcomer) {
    auto const& [by, newer, text, names, known_parts] = newcomer;
    bool const part = is_part(newer);
    auto is_over = [&](Fill const& fill) {
        auto const view = fill.view();
        if (&fill == &by || fill.key() != by.key() || view.phase != FillView::Phase::body) return false;
        if (view.object->sequence() >= newer.sequence()) return false;
        if (view.object->key() != text && fill.varies_by() == names) return false;
        return !part || !is_same_representation(*view.object, newer, wall_now());
    };
    detach_if(shard, by.primary(), is_over);
}

/// From disk. True when something was there. What is not known there goes: a whole or parts that were not read.
bool Cache::forget_older(Shard& shard, Newcomer const& newcomer) {
    auto const& [by, newer, text, names, known_parts] = newcomer;
    Key const key{by.key(), by.primary()};
    bool const part = is_part(newer);
    auto const now = wall_now();
    overtake(shard, key);
    bool found = false;
    auto const* at_primary = shard.find(key.fingerprint, key.text).object;
    bool const same_vary = is_marker_of(at_primary, names) || is_marker_of(by.marker_.get(), names);
    if (!names.empty() && !same_vary) {
        found |= disk_->forget(key.text);
        found |= disk_->forget(parts_text(key.text));
    }
    if (!same_vary && !part) unmark(shard, key);
    auto outranks = [&](store::Object const* whole) {
        return whole && whole->key() == text && !is_incomplete(*whole) && outranks_parts(*whole, newer, now);
    };
    bool const whole_stays = part && (outranks(by.stale().get()) || outranks(shard.find(fingerprint(text, seed_), text).object));
    if (!whole_stays) found |= disk_->forget(text);
    bool const parts_stay = part && known_parts && is_same_representation(*known_parts, newer, now);
    if (!parts_stay) found |= disk_->forget(parts_text(text));
    return found;
}

void Cache::unmark(Shard& shard, Key const& key) {
    auto [first, last] = shard.fills.equal_range(key.fingerprint);
    for (; first != last; ++first)
        if (first->second->key() == key.text) first->second->in_shard(shard.mutex).unmarked = true;
}

// ---- who reads the disk meanwhile ----

/// The disk has something else under the URL by now: who reads it meanwhile has read what is over.
void Cache::overtake(Shard& shard, Key const& key) {
    auto [first, last] = shard.fills.equal_range(key.fingerprint);
    for (; first != last; ++first)
        if (first->second->key() == key.text) first->second->in_shard(shard.mutex).overtaken = true;
}

void Cache::begin_to_read(FillLease const& lease) {
    auto& fill = *lease.fill();
    auto& shard = this->shard(fill.primary());
    MutexLock const lock(shard.mutex);
    fill.in_shard(shard.mutex).overtaken = false;
}

bool Cache::is_overtaken(Fill const& fill) const {
    auto& shard = this->shard(fill.primary());
    MutexLock const lock(shard.mutex);
    return fill.in_shard(shard.mutex).overtaken || !fill.in_shard(shard.mutex).attached;
}

}  // namespace garner::cache
