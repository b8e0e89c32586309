#include "cache/disk_lookup.hpp"

#include <utility>

#include "cache/parts.hpp"
#include "store/body_source.hpp"

namespace garner::cache {

namespace {

// After that an object replaced during each read is fetched from the origin.
constexpr int looks_max = 3;

}   // namespace

/// Costs a hash and a probe on each miss.
bool Cache::may_be_elsewhere(Lookup const& found, Query const& query) const {
    if (found.kind != Lookup::Kind::absent) return false;
    if (found.may_be_former) return true;
    if (!disk_) return false;
    bool const in_parts = query.request.fields.has(http::Name::range);
    return found.variant_missing || disk_.may_have(query.key.text) || (in_parts && disk_.may_have(parts_text(query.key.text)));
}

net::awaitable<void> Cache::look_on_disk(Lookup& found, Query const& query, net::Executor executor) {
    DiskLookup on_disk(*this, query, executor);
    for (int looks = 0; looks < looks_max && found.may_be_elsewhere; ++looks) {
        bool const done = co_await on_disk.look(found);
        if (!done) found = lookup(query);
        if (!found.removed) found.removed = on_disk.removed();
        if (done) co_return;
    }
}

net::awaitable<store::ObjectPtr> Cache::parts_from_disk(Query const& query, net::Executor executor) {
    DiskLookup on_disk(*this, query, executor);
    co_return co_await on_disk.find_parts();
}

/// An object that a hard invalidation has outdated is removed: the lookup is repeated without it.
store::ObjectPtr DiskLookup::unless_invalidated(store::ObjectPtr loaded) {
    auto const verdict = loaded ? cache_.invalidations.judge(*loaded) : Invalidations::Verdict();
    if (!verdict.is_hard()) return loaded;
    removed_ = verdict.reason;
    cache_.forget(query_.key, *loaded);
    return nullptr;
}

net::awaitable<store::ObjectPtr> DiskLookup::load(std::string_view key) {
    auto loaded = co_await cache_.disk_.load(key, executor_);
    from_disk_ = static_cast<bool>(loaded);
    if (!loaded && asks_former_) loaded = co_await cache_.wanted.load(key, executor_);
    co_return unless_invalidated(std::move(loaded));
}

net::awaitable<store::ObjectPtr> DiskLookup::load_parts(std::string_view key) {
    auto loaded = co_await cache_.disk_.load_parts(key, executor_);
    from_disk_ = true;
    co_return unless_invalidated(std::move(loaded));
}

/// The response that the request selects; ignores records stored before the URL's Vary changed.
net::awaitable<DiskLookup::OnDisk> DiskLookup::find(bool variant_missing) {
    auto const& [key, request, control, now, collapse] = query_;
    OnDisk found;
    if (variant_missing)
        found.marker = cache_.memory_.find(key.text, key.fingerprint);
    else
        found.object = co_await load(key.text);
    if (is_marker(found.object.get())) found.marker.swap(found.object);
    std::string text(key.text);
    if (found.marker) {
        if (!is_marker(found.marker.get())) co_return OnDisk{};
        found.variant = http::variant_key(found.marker->head(), request.fields);
        text = variant_text(key.text, found.variant);
        found.object = co_await load(text);
        if (is_superseded(found)) found.object = nullptr;
    }
    if (found.object || !request.fields.has(http::Name::range)) co_return found;
    found.object = co_await load_parts(text);
    if (is_superseded(found)) found.object = nullptr;
    found.part_missing = found.object && !can_answer(*found.object, request, now);
    if (found.part_missing) found.object = nullptr;
    co_return found;
}

net::awaitable<store::ObjectPtr> DiskLookup::find_parts() {
    auto const& key = query_.key;
    OnDisk found;
    std::string text(key.text);
    found.marker = cache_.memory_.find(key.text, key.fingerprint);
    if (found.marker) {
        if (!is_marker(found.marker.get())) co_return nullptr;
        text = variant_text(key.text, http::variant_key(found.marker->head(), query_.request.fields));
    }
    found.object = co_await load_parts(text);
    if (!found.object || !found.object->body() || !found.object->body()->missing() || is_superseded(found)) co_return nullptr;
    co_return co_await into_memory(found);
}

/// A charged copy with its body, or nullptr when memory has no room or does not admit it. If the disk cannot deliver
/// the bytes, resets `loaded.object`: a response known to be incomplete must not be started.
net::awaitable<store::ObjectPtr> DiskLookup::into_memory(OnDisk& loaded) {
    auto& memory = cache_.memory_;
    auto& disk = cache_.disk_;
    auto const primary = query_.key.fingerprint;
    auto parts = loaded.object->parts();
    Bytes const to_come = parts.body ? parts.body->size() : 0;
    if (!memory.admits(parts, primary, to_come)) co_return nullptr;
    if (parts.body) {
        bool room = true;
        // A slow body is streamed from disk without entering memory, so that the client need not wait for all of it.
        auto const give_up = steady_now() + disk.patience();
        auto reserve = [&](Bytes bytes) {
            room = steady_now() < give_up && memory.reserve_growing(bytes, primary);
            return room;
        };
        auto const source = parts.body->source();
        parts.body = co_await store::in_memory(parts.body, memory.budget(), reserve, executor_);
        if (!parts.body && room && source && !source->is_whole()) disk.forget(parts.key);
        if (!parts.body && room) loaded.object = nullptr;
        if (!parts.body) co_return nullptr;
    }
    co_return memory.make_object(parts, primary);
}

/// For a URL whose requested variant is missing: keeps the marker, so that the next variant is stored beside the
/// existing ones.
void DiskLookup::keep_marker(store::Object const& marker, Fill const& by) {
    auto const& key = query_.key;
    auto& memory = cache_.memory_;
    auto const charged = memory.make_object(marker.parts(), key.fingerprint);
    if (!charged) return;
    auto& shard = memory.shard(key.fingerprint);
    MutexLock const lock(shard.mutex);
    if (cache_.fetches_.supersession().is_overtaken(shard, by) || shard.find(key.fingerprint, key.text)) return;
    shard.put(key.fingerprint, charged);
    memory.settle(shard, key.fingerprint);
}

Lookup DiskLookup::look_again(bool whole) {
    if (!whole) return cache_.look_for_parts(query_);
    auto& shard = cache_.memory_.shard(query_.key.fingerprint);
    MutexLock const lock(shard.mutex);
    auto const found = cache_.select(shard, query_.key, query_.request).found;
    return found ? cache_.answer_from(shard, found, query_) : Lookup{};
}

net::awaitable<bool> DiskLookup::look(Lookup& found) {
    // A purge or store during the read finds this lease. The record read before it is then neither put into memory
    // nor sent.
    bool const leads = static_cast<bool>(found.lead);
    auto lead = leads ? std::move(found.lead) : cache_.lease(query_.key, nullptr);
    auto& supersession = cache_.fetches_.supersession();
    asks_former_ = found.may_be_former;
    // A former process keeps what is removed here: every removal since the lookup counts.
    if (!asks_former_) supersession.begin_to_read(*lead.fill());
    auto loaded = co_await find(found.variant_missing);
    lead.fill()->marker_ = loaded.marker;
    store::ObjectPtr charged;
    if (loaded.object) charged = co_await into_memory(loaded);
    bool const is_whole = loaded.object && !is_incomplete(*loaded.object);
    if (charged) {
        http::VaryNames vary;
        if (loaded.marker) vary = http::parse_vary(loaded.marker->head());
        auto const sequence = loaded.marker ? loaded.marker->sequence() : 0;
        if (!lead.loaded(charged, vary, loaded.variant, sequence)) co_return false;
        auto again = look_again(is_whole);
        if (again.object) {
            found = std::move(again);
            found.from_disk = from_disk_;
            co_return true;
        }
    } else if (supersession.is_overtaken(*lead.fill())) {
        lead.look_again();
        co_return false;
    }
    if (!loaded.object) {
        if (loaded.marker && !found.variant_missing) keep_marker(*loaded.marker, *lead.fill());
        found.variant_missing = static_cast<bool>(loaded.marker);
        found.part_missing = found.part_missing || loaded.part_missing;
        if (leads) found.lead = std::move(lead);
        co_return true;
    }
    auto object = charged ? charged : loaded.object;
    auto const terms = is_whole ? object->terms() : terms_of_parts(*object);
    auto const answer = answer_for(cache_.invalidations, *object, terms, query_);
    found.answer_with(std::move(object), answer);
    found.variant_missing = false;
    found.from_disk = from_disk_;
    if (found.kind == Lookup::Kind::stale && leads && lead)
        found.lead = std::move(lead);
    else if (lead)
        lead.look_again();
    co_return true;
}

// ---- inspection ----

Peek Cache::peek(Query const& query, bool on_disk) const {
    auto peek = peek_in_memory(query);
    peek.disk_was_read = on_disk && disk_ && peek.kind == Lookup::Kind::absent && !peek.parts;
    if (peek.disk_was_read) peek_on_disk(peek, query);
    peek.variant_missing = !peek.vary.empty() && !peek.object;
    return peek;
}

/// Selects like DiskLookup::find().
void Cache::peek_on_disk(Peek& absent, Query const& query) const {
    auto const& [key, request, control, now, collapse] = query;
    auto const disk = disk_.store();
    if (!disk) return;
    auto object = absent.vary.empty() ? disk->peek(key.text) : nullptr;
    auto marker = absent.vary.empty() ? nullptr : memory_.find(key.text, key.fingerprint);
    if (is_marker(object.get())) marker.swap(object);
    std::string text(key.text);
    if (marker) {
        absent.vary = marker->head();
        absent.selected = http::variant_key(absent.vary, request.fields);
        text = variant_text(key.text, absent.selected);
        object = disk->peek(text);
    }
    auto const is_current = [&marker](store::ObjectPtr const& found) {
        return found && (!marker || found->sequence() >= marker->sequence());
    };
    if (is_current(object) && !absent.note_invalidation(invalidations, object)) {
        absent.answer_with(object, answer_for(invalidations, *object, object->terms(), query));
        absent.from_disk = true;
        return;
    }
    auto const parts = disk->peek(parts_text(text));
    if (!is_current(parts) || absent.note_invalidation(invalidations, parts)) return;
    absent.parts = parts;
    absent.from_disk = true;
    bool const of_range = request.fields.has(http::Name::range);
    absent.part_missing = of_range && !can_answer(*parts, request, now);
    if (of_range && !absent.part_missing)
        absent.answer_with(parts, answer_for(invalidations, *parts, terms_of_parts(*parts), query));
}

}   // namespace garner::cache
