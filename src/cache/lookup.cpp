// What a request finds in memory, and what it is to do about it.
#include <algorithm>

#include "cache/cache.hpp"
#include "cache/parts.hpp"

namespace garner::cache {

Lookup Cache::lookup(Key const& key, http::RequestHead const& request, http::RequestCacheControl const& control,
                     WallTime now, Collapse collapse) {
    auto& shard = this->shard(key.fingerprint);
    MutexLock const lock(shard.mutex);
    auto const [found, marker, variant] = select(shard, key, request);
    shard.policy().requested(variant.empty() ? key.fingerprint : fingerprint(variant, seed_));
    // A use of a variant is one of its marker: were that the oldest, it would take them all with it.
    if (marker) shard.policy().used_along(marker.slot, marker.object->cost());
    if (!found) return lookup_absent(shard, key, request, control, now, collapse, variant);
    // Whose credentials are wrong shall not speak for the others.
    bool may_refresh = !request.fields.has(http::Name::authorization);
    return answer_from(shard, found, key, control, now, collapse, may_refresh);
}

Cache::Selected Cache::select(Shard const& shard, Key const& key, http::RequestHead const& request) const {
    auto found = shard.find(key.fingerprint, key.text);
    if (!found || found.object->kind() != store::Object::Kind::vary_marker) return {found, {}, {}};
    auto variant = variant_text(key.text, http::variant_key(found.object->head(), request.fields));
    auto selected = shard.find(fingerprint(variant, seed_), variant);
    return {selected, found, std::move(variant)};
}

Lookup::Kind Cache::kind_of(http::Reuse reuse) {
    switch (reuse) {
    case http::Reuse::fresh:
    case http::Reuse::stale_allowed: return Lookup::Kind::fresh;
    case http::Reuse::stale_while_revalidate: return Lookup::Kind::refresh;
    case http::Reuse::revalidate: break;
    }
    return Lookup::Kind::stale;
}

/// The revalidation that others may wait for.
FillPtr Cache::validation_of(Shard const& shard, Key const& key, store::ObjectPtr const& stale) {
    auto [first, last] = shard.fills.equal_range(key.fingerprint);
    for (; first != last; ++first) {
        auto const& fill = first->second;
        if (fill->leads_others_ && fill->key() == key.text && fill->stale() == stale) return fill;
    }
    return nullptr;
}

/// The fetch of what is not stored that this request may wait for: of bodies that grow the newest.
FillPtr Cache::fetch_of(Shard const& shard, Key const& key, http::RequestHead const& request,
                        http::RequestCacheControl const& control, WallTime now, std::string_view variant) {
    FillPtr best;
    std::uint64_t newest = 0;
    auto [first, last] = shard.fills.equal_range(key.fingerprint);
    for (; first != last; ++first) {
        auto const& fill = first->second;
        if (fill->key() != key.text || !fill->in_shard(shard.mutex).attached) continue;
        auto const view = fill->view();
        bool const grows = view.phase == FillView::Phase::body && view.object->status() != 206;
        bool const leads = fill->leads_others_ && !fill->stale();
        // What will be stored others may have before it is, whoever asked for it and how.
        auto serves = [&] { return http::may_reuse(view.object->terms(), control, now).reuse == http::Reuse::fresh; };
        if (!leads && !(grows && serves())) continue;
        // Before the head the URL's last Vary is the best guess at whose answer this will be.
        bool const head = view.phase == FillView::Phase::head;
        if (!(head ? fill->sought_ == variant : fill->selects(request.fields))) continue;
        auto const age = grows ? view.object->sequence() : 0;
        if (best && age <= newest) continue;
        best = fill;
        newest = age;
    }
    return best;
}

Lookup Cache::answer_from(Shard& shard, Shard::Found found, Key const& key, http::RequestCacheControl const& control,
                          WallTime now, Collapse collapse, bool may_refresh) {
    Lookup result;
    shard.policy().hit(found.slot, found.object->cost());
    result.object = store::ObjectPtr(found.object);
    result.answer = http::may_reuse(found.object->terms(), control, now);
    result.kind = kind_of(result.answer.reuse);
    if (result.kind == Lookup::Kind::refresh && may_refresh) lead_refresh(result, shard, key, now);
    if (result.kind != Lookup::Kind::stale || collapse == Collapse::alone) return result;
    bool shares = !shard.passes(key.fingerprint, unix_seconds(now));
    if (shares) result.follow = validation_of(shard, key, result.object);
    if (!result.follow) result.lead = start_fill(shard, key, result.object, shares);
    return result;
}

/// One revalidation at a time for one object, whoever asks and in whatever way.
void Cache::lead_refresh(Lookup& result, Shard& shard, Key const& key, WallTime now) {
    if (shard.refresh_pauses(key.fingerprint, unix_seconds(now))) return;
    auto [first, last] = shard.fills.equal_range(key.fingerprint);
    for (; first != last; ++first)
        if (first->second->stale() == result.object) return;
    result.lead = start_fill(shard, key, result.object, !shard.passes(key.fingerprint, unix_seconds(now)));
    result.lead.fill()->refreshes_ = true;
}

Lookup Cache::lookup_absent(Shard& shard, Key const& key, http::RequestHead const& request,
                            http::RequestCacheControl const& control, WallTime now, Collapse collapse,
                            std::string_view variant) {
    Lookup result;
    result.variant_missing = !variant.empty();
    if (collapse == Collapse::alone) return result;
    if (shard.passes(key.fingerprint, unix_seconds(now))) {
        result.kind = Lookup::Kind::pass;
        result.lead = start_fill(shard, key, nullptr, false);
        return result;
    }
    result.follow = fetch_of(shard, key, request, control, now, variant);
    if (result.follow) {
        result.kind = Lookup::Kind::busy;
        return result;
    }
    result.lead = start_fill(shard, key, nullptr, true);
    result.lead.fill()->sought_ = variant;
    return result;
}

Shard::Found Cache::find_parts(Shard const& shard, Key const& key, http::RequestHead const& request) const {
    auto const selected = select(shard, key, request);
    auto const text = parts_text(selected.marker ? std::string_view(selected.variant) : key.text);
    return shard.find(fingerprint(text, seed_), text);
}

/// They are validated before they are sent, not meanwhile.
http::ReuseAnswer Cache::may_reuse_parts(store::Object const& parts, http::RequestCacheControl const& control,
                                         WallTime now) {
    auto terms = parts.terms();
    terms.stale_while_revalidate = 0;
    return http::may_reuse(terms, control, now);
}

Lookup Cache::lookup_parts(Key const& key, http::RequestHead const& request, http::RequestCacheControl const& control,
                           WallTime now) {
    Lookup result;
    auto& shard = this->shard(key.fingerprint);
    MutexLock const lock(shard.mutex);
    auto found = find_parts(shard, key, request);
    if (!found) return result;
    shard.policy().requested(fingerprint(found.object->key(), seed_));
    if (!can_answer(*found.object, request, now)) {
        result.part_missing = true;
        return result;
    }
    shard.policy().hit(found.slot, found.object->cost());
    result.object = store::ObjectPtr(found.object);
    result.answer = may_reuse_parts(*found.object, control, now);
    result.kind = kind_of(result.answer.reuse);
    return result;
}

store::ObjectPtr Cache::parts(Key const& key, http::RequestHead const& request) const {
    auto& shard = this->shard(key.fingerprint);
    MutexLock const lock(shard.mutex);
    return store::ObjectPtr(find_parts(shard, key, request).object);
}

store::ObjectPtr Cache::find(std::string_view key, Fingerprint primary) const {
    auto& shard = this->shard(primary);
    MutexLock const lock(shard.mutex);
    return store::ObjectPtr(shard.find(fingerprint(key, seed_), key).object);
}

Peek Cache::peek(Key const& key, http::RequestHead const& request, http::RequestCacheControl const& control, WallTime now,
                 Collapse collapse) const {
    Peek peek;
    peek.failure = failures_.peek(key, steady_now());
    auto& shard = this->shard(key.fingerprint);
    MutexLock const lock(shard.mutex);
    peek.passes_until = shard.passes_until(key.fingerprint);
    peek.pass_reason = shard.pass_reason(key.fingerprint);
    bool const shares = collapse != Collapse::alone && !shard.passes(key.fingerprint, unix_seconds(now));
    auto const [found, marker, variant] = select(shard, key, request);
    if (marker) {
        peek.vary = marker.object->head();
        peek.selected = http::variant_key(peek.vary, request.fields);
        auto const prefix = variant_text(key.text, {}).size();
        for (auto const* stored : shard.variants_of(key.fingerprint))
            if (!is_incomplete(*stored)) peek.variants.emplace_back(stored->key().substr(std::min(prefix, stored->key().size())));
    }
    auto [first, last] = shard.fills.equal_range(key.fingerprint);
    for (; first != last; ++first)
        if (first->second->key() == key.text) peek.fetches.push_back(first->second);
    if (found) {
        peek.object = store::ObjectPtr(found.object);
        peek.answer = http::may_reuse(found.object->terms(), control, now);
        peek.kind = kind_of(peek.answer.reuse);
        if (peek.kind == Lookup::Kind::stale && shares) peek.follow = validation_of(shard, key, peek.object);
        return peek;
    }
    if (shares) peek.follow = fetch_of(shard, key, request, control, now, variant);
    if (peek.follow) peek.kind = Lookup::Kind::busy;
    if (auto const parts = find_parts(shard, key, request)) {
        peek.parts = store::ObjectPtr(parts.object);
        peek.part_missing = request.fields.has(http::Name::range) && !peek.follow;
        if (peek.part_missing && can_answer(*parts.object, request, now)) {
            peek.part_missing = false;
            peek.object = peek.parts;
            peek.answer = may_reuse_parts(*parts.object, control, now);
            peek.kind = kind_of(peek.answer.reuse);
            return peek;
        }
    }
    if (!shares && collapse != Collapse::alone) peek.kind = Lookup::Kind::pass;
    return peek;
}

bool Cache::contains_fresh(Key const& key, http::RequestHead const& request, WallTime now) const {
    auto& shard = this->shard(key.fingerprint);
    MutexLock const lock(shard.mutex);
    auto const found = select(shard, key, request).found;
    return found && http::may_reuse(found.object->terms(), {}, now).reuse == http::Reuse::fresh;
}

bool Cache::would_serve(Key const& key, WallTime now, milliseconds margin) const {
    http::RequestCacheControl fresh_for_longer;
    fresh_for_longer.min_fresh = static_cast<http::DeltaSeconds>(std::chrono::ceil<seconds>(margin).count());
    auto serves = [&](store::Object const* object) {
        bool const good = object->status() < 400 && object->status() != 206 && !is_incomplete(*object);
        return good && http::may_reuse(object->terms(), fresh_for_longer, now).reuse == http::Reuse::fresh;
    };
    auto& shard = this->shard(key.fingerprint);
    MutexLock const lock(shard.mutex);
    auto const found = shard.find(key.fingerprint, key.text);
    if (!found) return disk_ && disk_->is_fresh_until(key.text, now + margin);
    if (found.object->kind() != store::Object::Kind::vary_marker) return serves(found.object);
    if (found.object->head() != "accept-encoding") return false;
    auto const variants = shard.variants_of(key.fingerprint);
    return std::any_of(variants.begin(), variants.end(), serves);
}

}  // namespace garner::cache
