// Memory lookups: the stored response for a request, and the resulting action.
#include "cache/lookup.hpp"

#include <algorithm>
#include <utility>

#include "cache/cache.hpp"
#include "cache/parts.hpp"

namespace garner::cache {

namespace {

Lookup::Kind kind_of(http::Reuse reuse) {
    switch (reuse) {
    case http::Reuse::fresh:
    case http::Reuse::stale_allowed: return Lookup::Kind::fresh;
    case http::Reuse::stale_while_revalidate: return Lookup::Kind::refresh;
    case http::Reuse::revalidate: break;
    }
    return Lookup::Kind::stale;
}

/// The revalidation in progress that this request may join.
FillPtr validation_of(Shard const& shard, Key const& key, store::ObjectPtr const& stale, Invalidations const& invalidations)
    REQUIRES(shard.mutex) {
    for (auto const& fill : shard.fills(key.fingerprint)) {
        bool const validates = fill->leads_others() && fill->key() == key.text && fill->stale() == stale;
        if (validates && !invalidations.judge(*stale, fill->asked())) return fill;
    }
    return nullptr;
}

/// The fetch of a missing object that this request may join; among growing bodies the newest.
FillPtr fetch_of(Shard const& shard, Query const& query, std::string_view variant, Invalidations const& invalidations)
    REQUIRES(shard.mutex) {
    FillPtr best;
    std::uint64_t newest = 0;
    for (auto const& fill : shard.fills(query.key.fingerprint)) {
        if (fill->key() != query.key.text || !Supersession::may_store(shard, *fill)) continue;
        auto const view = fill->view();
        if (view.object && invalidations.judge(*view.object, fill->asked())) continue;
        bool const grows = view.phase == FillView::Phase::body && view.object->status() != 206;
        bool const leads = fill->leads_others() && !fill->stale();
        // Any request may join a response that will be stored.
        auto serves = [&] {
            bool const is_fresh = http::may_reuse(view.object->terms(), query.control, query.now).reuse == http::Reuse::fresh;
            return is_fresh && invalidations.is_vouched_for(*view.object);
        };
        if (!leads && !(grows && serves())) continue;
        // Before the head the URL's last Vary is the best guess of the variant being fetched.
        bool const head = view.phase == FillView::Phase::head;
        if (!(head ? fill->sought() == variant : fill->selects(query.request.fields))) continue;
        auto const age = grows ? view.object->sequence() : 0;
        if (best && age <= newest) continue;
        best = fill;
        newest = age;
    }
    return best;
}

}   // namespace

void FoundResponse::answer_with(store::ObjectPtr found, http::ReuseAnswer how) {
    object = std::move(found);
    answer = how;
    kind = kind_of(how.reuse);
}

Lookup Cache::lookup(Query const& query) {
    auto found = look_for_whole(query);
    bool absent = found.kind == Lookup::Kind::absent || found.kind == Lookup::Kind::hit_for_pass;
    if (absent && query.request.fields.has(http::Name::range)) {
        auto parts = look_for_parts(query);
        absent = !parts.object;
        if (absent) {
            found.part_missing = parts.part_missing;
            if (!found.removed) found.removed = parts.removed;
        } else {
            found = std::move(parts);
        }
    }
    if (absent)
        found.may_be_elsewhere = may_be_elsewhere(found, query);
    else if (disk_ && found.object)
        report_use(query, *found.object);
    return found;
}

Lookup Cache::look_for_whole(Query const& query) {
    auto& shard = memory_.shard(query.key.fingerprint);
    std::vector<store::ObjectPtr> gone;
    MutexLock const lock(shard.mutex);
    auto [found, marker, variant] = select(shard, query.key, query.request);
    auto const removed = discard_if_invalidated(shard, found, query, gone);
    shard.policy().requested(variant.empty() ? query.key.fingerprint : memory_.fingerprint_of(variant));
    // A use of a variant counts as a use of its marker: an evicted marker would make all variants unreachable.
    if (marker) shard.policy().used_along(marker.slot, marker.object->cost());
    bool const is_unchanged = !found && wanted.is_on() && shard.touched.may_restore(query.key.fingerprint);
    auto result = found ? answer_from(shard, found, query) : lookup_absent(shard, query, variant);
    result.removed = removed;
    result.may_be_former = is_unchanged && !removed && result.lead;
    return result;
}

/// After a hard invalidation nothing is found. The reason, if that is so.
std::optional<http::ReuseReason> Cache::discard_if_invalidated(Shard& shard, Shard::Found& found, Query const& query,
                                                               std::vector<store::ObjectPtr>& gone) {
    auto const verdict = found ? invalidations.judge(*found.object) : Invalidations::Verdict();
    if (!verdict.is_hard()) return std::nullopt;
    fetches_.supersession().discard(shard, query.key.fingerprint, std::exchange(found, {}), gone);
    return verdict.reason;
}

http::ReuseAnswer answer_for(Invalidations const& invalidations, store::Object const& object, http::Terms const& terms,
                             Query const& query) {
    return invalidations.may_reuse(object, terms, query.control, query.now);
}

/// Reports a sample of memory hits to the disk, which may then store the object.
void Cache::report_use(Query const& query, store::Object const& object) {
    thread_local unsigned uses = 0;
    if (++uses % disk_.uses_a_report() != 0) return;
    auto const disk = disk_.store();
    if (!disk) return;
    bool const is_variant = object.key().size() != query.key.text.size();
    if (is_variant) disk->used(query.key.text);   // its marker
    if (!disk->used(object.key())) return;
    auto& shard = memory_.shard(query.key.fingerprint);
    MutexLock const lock(shard.mutex);
    bool const is_there = memory_.find(shard, object.key()).object == &object;
    if (is_there && !memory_.is_superseded(shard, object)) disk_.store(object.parts());
}

Cache::Selected Cache::select(Shard const& shard, Key const& key, http::RequestHead const& request) const {
    auto found = shard.find(key.fingerprint, key.text);
    if (!is_marker(found.object)) return {found, {}, {}};
    auto variant = variant_text(key.text, http::variant_key(found.object->head(), request.fields));
    auto selected = memory_.find(shard, variant);
    return {selected, found, std::move(variant)};
}

Lookup Cache::answer_from(Shard& shard, Shard::Found found, Query const& query) {
    auto const primary = query.key.fingerprint;
    Lookup result;
    shard.policy().hit(found.slot, found.object->cost());
    result.answer_with(store::ObjectPtr(found.object), answer_for(invalidations, *found.object, found.object->terms(), query));
    // A request whose credentials may be wrong must not revalidate for others.
    bool const may_refresh = !query.request.fields.has(http::Name::authorization);
    if (result.kind == Lookup::Kind::refresh && may_refresh) lead_refresh(result, shard, query);
    if (result.kind != Lookup::Kind::stale || query.collapse == Collapse::alone) return result;
    bool const shares = !shard.is_hit_for_pass(primary, unix_seconds(query.now));
    if (shares) result.follow = validation_of(shard, query.key, result.object, invalidations);
    if (!result.follow) result.lead = fetches_.start(shard, query.key, result.object, shares);
    return result;
}

/// At most one revalidation of an object at a time, for all kinds of requests.
void Cache::lead_refresh(Lookup& result, Shard& shard, Query const& query) {
    auto const primary = query.key.fingerprint;
    auto const now = unix_seconds(query.now);
    if (shard.refresh_pauses(primary, now)) return;
    for (auto const& fill : shard.fills(primary))
        if (fill->stale() == result.object) return;
    result.lead = fetches_.start(shard, query.key, result.object, !shard.is_hit_for_pass(primary, now));
    result.lead.begin_refresh();
}

Lookup Cache::lookup_absent(Shard& shard, Query const& query, std::string_view variant) {
    Lookup result;
    result.variant_missing = !variant.empty();
    if (query.collapse == Collapse::alone) return result;
    if (shard.is_hit_for_pass(query.key.fingerprint, unix_seconds(query.now))) {
        result.kind = Lookup::Kind::hit_for_pass;
        result.lead = fetches_.start(shard, query.key, nullptr, false);
        return result;
    }
    result.follow = fetch_of(shard, query, variant, invalidations);
    if (result.follow) {
        result.kind = Lookup::Kind::busy;
        return result;
    }
    result.lead = fetches_.start(shard, query.key, nullptr, true);
    result.lead.seek(variant);
    return result;
}

Shard::Found Cache::find_parts(Shard const& shard, Query const& query) const {
    if (!shard.has_parts()) return {};   // spares most misses a second key
    auto const selected = select(shard, query.key, query.request);
    return memory_.find(shard, parts_text(selected.marker ? std::string_view(selected.variant) : query.key.text));
}

store::ObjectPtr Cache::parts(Query const& query) const {
    auto& shard = memory_.shard(query.key.fingerprint);
    MutexLock const lock(shard.mutex);
    auto const found = find_parts(shard, query);
    bool const is_there = found && !invalidations.judge(*found.object).is_hard();
    return is_there ? store::ObjectPtr(found.object) : store::ObjectPtr();
}

Lookup Cache::look_for_parts(Query const& query) {
    Lookup result;
    auto& shard = memory_.shard(query.key.fingerprint);
    std::vector<store::ObjectPtr> gone;
    MutexLock const lock(shard.mutex);
    auto found = find_parts(shard, query);
    result.removed = discard_if_invalidated(shard, found, query, gone);
    if (!found) return result;
    shard.policy().requested(memory_.fingerprint_of(found.object->key()));
    result.part_missing = !can_answer(*found.object, query.request, query.now);
    if (result.part_missing) return result;
    shard.policy().hit(found.slot, found.object->cost());
    result.answer_with(store::ObjectPtr(found.object),
                       answer_for(invalidations, *found.object, terms_of_parts(*found.object), query));
    return result;
}

bool Cache::would_serve(Key const& key, WallTime now, milliseconds margin) const {
    if (invalidations.is_cut_off_for(plain_url_of(key.text))) return false;
    http::RequestCacheControl fresh_for_longer;
    fresh_for_longer.min_fresh = static_cast<http::DeltaSeconds>(std::chrono::ceil<seconds>(margin).count());
    auto serves = [&](store::Object const* object) {
        bool const good = object->status() < 400 && object->status() != 206 && !is_incomplete(*object);
        return good && invalidations.may_reuse(*object, object->terms(), fresh_for_longer, now).reuse == http::Reuse::fresh;
    };
    auto& shard = memory_.shard(key.fingerprint);
    MutexLock const lock(shard.mutex);
    auto const found = shard.find(key.fingerprint, key.text);
    if (!found) return disk_.is_fresh_until(key.text, now + margin);
    if (!is_marker(found.object)) return serves(found.object);
    if (found.object->head() != "accept-encoding") return false;
    auto const variants = shard.variants_of(key.fingerprint);
    return std::any_of(variants.begin(), variants.end(), serves);
}

// ---- inspection ----

/// True for an object that a lookup would remove.
bool Peek::note_invalidation(Invalidations const& invalidations, store::ObjectPtr const& object) {
    auto const verdict = invalidations.judge(*object);
    if (!verdict) return false;
    invalidated = invalidations.explain(*object);
    removed = verdict.is_hard() ? std::optional(verdict.reason) : std::nullopt;
    return verdict.is_hard();
}

Peek Cache::peek_in_memory(Query const& query) const {
    auto const primary = query.key.fingerprint;
    Peek peek;
    peek.failure = memory_.failures().peek(query.key, steady_now());
    auto& shard = memory_.shard(primary);
    MutexLock const lock(shard.mutex);
    peek.hit_for_pass_until = shard.hit_for_pass_until(primary);
    peek.hit_for_pass_reason = shard.hit_for_pass_reason(primary);
    bool const shares = query.collapse != Collapse::alone && !shard.is_hit_for_pass(primary, unix_seconds(query.now));
    auto [found, marker, variant] = select(shard, query.key, query.request);
    if (found && peek.note_invalidation(invalidations, found.object)) found = {};
    if (marker) {
        peek.vary = marker.object->head();
        peek.selected = http::variant_key(peek.vary, query.request.fields);
        auto const prefix = variant_text(query.key.text, {}).size();
        for (auto const* stored : shard.variants_of(primary))
            if (!is_incomplete(*stored)) peek.variants.emplace_back(stored->key().substr(std::min(prefix, stored->key().size())));
    }
    for (auto const& fill : shard.fills(primary))
        if (fill->key() == query.key.text) peek.fetches.push_back(fill);
    if (found) {
        peek.answer_with(store::ObjectPtr(found.object), answer_for(invalidations, *found.object, found.object->terms(), query));
        if (peek.kind == Lookup::Kind::stale && shares) peek.follow = validation_of(shard, query.key, peek.object, invalidations);
        return peek;
    }
    if (shares) peek.follow = fetch_of(shard, query, variant, invalidations);
    if (peek.follow) peek.kind = Lookup::Kind::busy;
    auto parts = find_parts(shard, query);
    if (parts && peek.note_invalidation(invalidations, parts.object)) parts = {};
    peek.parts = store::ObjectPtr(parts.object);
    peek.part_missing = peek.parts && query.request.fields.has(http::Name::range) && !peek.follow;
    if (peek.part_missing && can_answer(*peek.parts, query.request, query.now)) {
        peek.part_missing = false;
        peek.answer_with(peek.parts, answer_for(invalidations, *peek.parts, terms_of_parts(*peek.parts), query));
        return peek;
    }
    if (!shares && query.collapse != Collapse::alone) peek.kind = Lookup::Kind::hit_for_pass;
    return peek;
}

}   // namespace garner::cache
