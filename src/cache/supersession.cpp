#include "cache/supersession.hpp"

#include <algorithm>
#include <utility>

#include "cache/parts.hpp"

namespace garner::cache {

namespace {

bool is_part(store::Object const& object) {
    bool const grows = object.body() && object.body()->state() != store::Body::State::complete;
    return object.status() == 206 || (!grows && is_incomplete(object));
}

}   // namespace

// ---- under the lock ----

/// Detaches the matching fetches of the URL: followers continue to read, the response is not stored, and no request
/// joins any more. True when there was one.
template <class IsSuperseded>
bool Supersession::detach_if(Shard& shard, Fingerprint primary, IsSuperseded is_superseded) {
    auto const fills = shard.fills(primary);
    std::vector<FillPtr> over;
    std::ranges::copy_if(fills, std::back_inserter(over), [&](FillPtr const& fill) { return is_superseded(*fill); });
    for (auto const& fill : over) {
        fill->in_shard(shard.mutex).stored = false;
        shard.remove_fill(*fill);
    }
    return !over.empty();
}

bool Supersession::may_store(Shard const& shard, Fill const& fill) { return fill.in_shard(shard.mutex).stored; }

bool Supersession::contradicts_told(Shard const& shard, Newcomer const& newcomer) {
    auto const* url = shard.url(newcomer.by.primary());
    return url && url->history.contradicts_told(newcomer.by, newcomer.by.asked(), newcomer.response());
}

bool Supersession::contradicts_given(Shard const& shard, Newcomer const& newcomer) {
    auto const* url = shard.url(newcomer.by.primary());
    auto const asked = newcomer.by.asked();
    return url && url->history.contradicts_given(newcomer.by, asked, newcomer.response(), wall_now());
}

bool Supersession::is_unmarked(Shard const& shard, Fill const& fill) {
    auto const* url = shard.url(fill.primary());
    return url && url->history.is_unmarked_since(fill.asked());
}

void Supersession::note_change_on_disk(Shard& shard, Fingerprint primary) {
    if (auto* url = shard.url(primary)) url->history.change_on_disk(memory_.numbers.next());
}

bool Supersession::is_overtaken(Shard const& shard, Fill const& fill) const {
    auto const* url = shard.url(fill.primary());
    return !may_store(shard, fill) || (url && url->history.is_changed_on_disk_since(fill.in_shard(shard.mutex).read));
}

/// Removes both from memory, whatever their age.
void Supersession::drop_different(Shard& shard, store::Object const& object, std::vector<store::ObjectPtr>& gone) {
    for (auto const& text : {std::string(object.key()), parts_text(object.key())}) {
        auto const there = memory_.find(shard, text);
        bool const is_response = there && !is_marker(there.object);
        if (is_response && !is_same_representation(*there.object, object, wall_now()))
            gone.push_back(shard.remove(there.slot, policy::Left::replaced));
    }
}

void Supersession::drop_older(Shard& shard, Newcomer const& newcomer, std::vector<store::ObjectPtr>& gone) {
    auto const& [by, newer, text, names, known_parts] = newcomer;
    bool const part = is_part(newer);
    auto const now = wall_now();
    auto is_older = [&](Shard::Found there) { return there && there.object->sequence() < newer.sequence(); };
    auto remove = [&](Shard::Found there)
                      REQUIRES(shard.mutex) { gone.push_back(shard.remove(there.slot, policy::Left::replaced)); };
    auto const at_primary = shard.find(by.primary(), by.key());
    bool const is_other_vary = at_primary && !is_marker_of(at_primary.object, names);
    if (is_other_vary && (is_marker(at_primary.object) || !names.empty()) && is_older(at_primary)) {
        shard.drop_variants(by.primary(), gone);
        remove(shard.find(by.primary(), by.key()));
        if (auto parts = memory_.drop_parts(shard, by.key(), policy::Left::replaced)) gone.push_back(std::move(parts));
    }
    auto const whole = memory_.find(shard, text);
    if (is_older(whole) && !(part && outranks_parts(*whole.object, newer, now))) remove(whole);
    auto const parts = memory_.find(shard, parts_text(text));
    if (is_older(parts) && !(part && is_same_representation(*parts.object, newer, now))) remove(parts);
    memory_.note_bytes(shard, by.primary());
    detach_older(shard, newcomer);
}

void Supersession::detach_older(Shard& shard, Newcomer const& newcomer) {
    auto const& [by, newer, text, names, known_parts] = newcomer;
    bool const part = is_part(newer);
    detach_if(shard, by.primary(), [&](Fill const& fill) {
        auto const view = fill.view();
        if (&fill == &by || fill.key() != by.key() || view.phase != FillView::Phase::body) return false;
        if (view.object->sequence() >= newer.sequence()) return false;
        if (view.object->key() != text && fill.varies_by() == names) return false;
        return !part || !is_same_representation(*view.object, newer, wall_now());
    });
}

// ---- a response is sent ----

bool Supersession::give(Fill& by, store::Object::Parts const& response, http::VaryNames const& vary,
                        store::ObjectPtr const& known_parts) {
    auto& shard = memory_.shard(by.primary());
    std::vector<store::ObjectPtr> gone;
    MutexLock const lock(shard.mutex);
    auto* const url = shard.url(by.primary());
    // No other fetch must be informed.
    bool const is_alone = url && url->fills.size() == 1 && url->fills.front().get() == &by;
    if (!disk_ && is_alone) return false;
    auto const outlined = outline(response);
    auto const& newer = *outlined;
    Newcomer const newcomer{by, newer, newer.key(), http::to_string(vary), known_parts};
    // If the URL was purged meanwhile, objects stored since may be older, too.
    bool const is_sure = may_store(shard, by) && !contradicts_given(shard, newcomer);
    if (!is_sure) drop_different(shard, newer, gone);
    memory_.note_bytes(shard, by.primary());
    auto const at = memory_.numbers.next();
    if (url) url->history.give(by, newcomer.response(), at, is_sure ? newer.sequence() : at, wall_now());
    return forget_older(shard, newcomer);   // without a disk, too: a fetch may still read from a former one
}

/// Removes from disk. True when anything was removed. An unread whole or parts are removed, too, because their age is
/// unknown.
bool Supersession::forget_older(Shard& shard, Newcomer const& newcomer) {
    auto const& [by, newer, text, names, known_parts] = newcomer;
    bool const part = is_part(newer);
    auto const now = wall_now();
    note_change_on_disk(shard, by.primary());
    bool found = false;
    auto const* at_primary = shard.find(by.primary(), by.key()).object;
    bool const same_vary = is_marker_of(at_primary, names) || is_marker_of(by.marker_.get(), names);
    if (!names.empty() && !same_vary) found |= disk_.forget_with_parts(by.key());
    if (!same_vary && !part)
        if (auto* url = shard.url(by.primary())) url->history.unmark(memory_.numbers.next());
    auto outranks = [&](store::Object const* whole) {
        return whole && whole->key() == text && !is_incomplete(*whole) && outranks_parts(*whole, newer, now);
    };
    bool const whole_stays = part && (outranks(by.stale().get()) || outranks(memory_.find(shard, text).object));
    if (!whole_stays) found |= disk_.forget(text);
    bool const parts_stay = part && known_parts && is_same_representation(*known_parts, newer, now);
    if (!parts_stay) found |= disk_.forget(parts_text(text));
    return found;
}

void Supersession::give_unstored(Fill& by, store::Object const& newer, http::VaryNames const& vary) {
    auto& shard = memory_.shard(by.primary());
    std::vector<store::ObjectPtr> gone;
    MutexLock const lock(shard.mutex);
    if (may_store(shard, by)) drop_older(shard, {by, newer, newer.key(), http::to_string(vary)}, gone);
}

// ---- HEAD ----

void Supersession::tell(Key const& key, store::Object const& head, http::VaryNames const& vary, Fill const* by) {
    auto const names = http::to_string(vary);
    auto& shard = memory_.shard(key.fingerprint);
    MutexLock const lock(shard.mutex);
    shard.touched.add(key.fingerprint);
    auto* const url = shard.url(key.fingerprint);
    if (!url) return;
    url->history.tell(by, {head, head.key(), names}, memory_.numbers.next());
    detach_if(shard, key.fingerprint, [&](Fill const& fill) {
        shard.mutex.assert_held();   // by this function
        auto const view = fill.view();
        if (fill.key() != key.text || &fill == by || view.phase != FillView::Phase::body) return false;
        return contradicts_told(shard, {fill, *view.object, view.object->key(), fill.varies_by()});
    });
}

void Supersession::detach_contradicted(Fill& fill) {
    auto& shard = memory_.shard(fill.primary());
    std::vector<store::ObjectPtr> gone;
    MutexLock const lock(shard.mutex);
    auto const* url = shard.url(fill.primary());
    if (!url || !url->history.has_told()) return;   // the usual case
    auto const object = fill.view().object;
    Newcomer const newcomer{fill, *object, object->key(), fill.varies_by()};
    if (!may_store(shard, fill) || !contradicts_told(shard, newcomer)) return;
    drop_older(shard, newcomer, gone);
    detach_if(shard, fill.primary(), [&](Fill const& other) { return &other == &fill; });
}

// ---- a body was truncated ----

void Supersession::outdate_older(Fill const& fill) {
    auto const newer = fill.view().object;
    bool const for_nobody = fill.refreshes_ && !fill.is_given();   // changes nothing
    if (!newer || newer->status() == 206 || for_nobody) return;
    drop_other_variants(fill, *newer);
    for (auto const text : {newer->key(), fill.key()}) {
        outdate(text, fill.primary(), *newer);
        outdate(parts_text(text), fill.primary(), *newer);
    }
}

/// Removes the variants of another Vary, instead of outdating each of them.
void Supersession::drop_other_variants(Fill const& fill, store::Object const& newer) {
    auto const names = fill.varies_by();
    auto& shard = memory_.shard(fill.primary());
    std::vector<store::ObjectPtr> gone;
    MutexLock const lock(shard.mutex);
    auto const marker = shard.find(fill.primary(), fill.key());
    if (!is_marker(marker.object) || is_marker_of(marker.object, names) || marker.object->sequence() > newer.sequence()) return;
    shard.drop_variants(fill.primary(), gone);
    gone.push_back(shard.remove(shard.find(fill.primary(), fill.key()).slot, policy::Left::replaced));
    memory_.note_bytes(shard, fill.primary());
}

void Supersession::outdate(std::string_view text, Fingerprint primary, store::Object const& newer) {
    auto const older = memory_.find(text, primary);
    auto const now = wall_now();
    bool const is_older = older && !is_marker(older.get()) && older->sequence() < newer.sequence();
    if (!is_older || is_same_representation(*older, newer, now)) return;
    auto const reuse = http::may_reuse(older->terms(), {}, now).reuse;
    if (reuse != http::Reuse::fresh && reuse != http::Reuse::stale_while_revalidate) return;
    auto stale = memory_.make_object(outdated(*older), primary);   // evicts, so not under the lock
    auto& shard = memory_.shard(primary);
    store::ObjectPtr gone;
    MutexLock const lock(shard.mutex);
    auto const there = memory_.find(shard, text);
    if (there.object != older.get()) return;
    gone = stale ? shard.freshen(there.slot, std::move(stale)) : shard.remove(there.slot, policy::Left::replaced);
    memory_.note_bytes(shard, primary);
}

// ---- removal by key ----

bool Supersession::purge(Key const& key, Fill const* but) {
    auto& shard = memory_.shard(key.fingerprint);
    std::vector<store::ObjectPtr> gone;
    MutexLock const lock(shard.mutex);
    shard.touched.add(key.fingerprint);
    bool const known_failure = memory_.failures().forget(key, steady_now());
    // No fetch begun before this moment is stored.
    bool const found_fill =
        detach_if(shard, key.fingerprint, [&](Fill const& fill) { return fill.key() == key.text && &fill != but; });
    shard.drop_variants(key.fingerprint, gone);
    if (auto found = shard.find(key.fingerprint, key.text)) gone.push_back(shard.remove(found.slot, policy::Left::purged));
    if (auto parts = memory_.drop_parts(shard, key.text, policy::Left::purged)) gone.push_back(std::move(parts));
    memory_.note_bytes(shard, key.fingerprint);
    bool const on_disk = disk_.forget_with_parts(key.text);
    return !gone.empty() || found_fill || known_failure || on_disk;
}

void Supersession::forget(Key const& key, store::Object const& object) {
    auto& shard = memory_.shard(key.fingerprint);
    store::ObjectPtr gone;
    MutexLock const lock(shard.mutex);
    shard.touched.add(key.fingerprint);
    auto const found = memory_.find(shard, object.key());
    note_change_on_disk(shard, key.fingerprint);
    if (!found || found.object == &object) disk_.forget(object.key());
    if (found.object != &object) return;
    gone = shard.remove(found.slot, policy::Left::purged);
    // A 304 in progress must not restore it.
    for (auto const& fill : shard.fills(key.fingerprint))
        if (fill->stale() == gone) fill->in_shard(shard.mutex).stored = false;
    memory_.note_bytes(shard, key.fingerprint);
}

/// A fetch that validates it began before the invalidation, so publication refuses the response.
void Supersession::discard(Shard& shard, Fingerprint primary, Shard::Found there, std::vector<store::ObjectPtr>& gone) {
    note_change_on_disk(shard, primary);
    disk_.forget(there.object->key());
    gone.push_back(shard.remove(there.slot, policy::Left::purged));
    memory_.note_bytes(shard, primary);
}

// ---- disk reads of a fetch ----

void Supersession::begin_to_read(Fill& fill) {
    auto& shard = memory_.shard(fill.primary());
    MutexLock const lock(shard.mutex);
    fill.in_shard(shard.mutex).read = memory_.numbers.next();
}

bool Supersession::is_overtaken(Fill const& fill) const {
    auto& shard = memory_.shard(fill.primary());
    MutexLock const lock(shard.mutex);
    return is_overtaken(shard, fill);
}

}   // namespace garner::cache
