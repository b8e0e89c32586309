// Memory in front, disk behind: what is not in memory is looked for on disk, and comes back from there.
#include <algorithm>

#include "cache/cache.hpp"
#include "cache/parts.hpp"
#include "store/body_source.hpp"

namespace garner::cache {

void Cache::set_disk(store::DiskStore* disk) {
    disk_ = disk;
    if (!disk) return;
    // What is fetched from now on is newer than all that is stored. The clock counts where the disk says nothing yet: later
    // than when the disk was opened it may have come to the second in which the next start takes its numbers.
    auto const seconds = static_cast<std::uint64_t>(std::max<std::int64_t>(unix_seconds(wall_now()), 0));
    auto const by_disk = disk->first_sequence();
    sequence_.store(by_disk != 0 ? by_disk : seconds << store::numbers_of_a_second);
}

// ---- to disk ----

/// Under the shard's lock: a purge comes before or after. `rival`: the key of its parts, or of the whole that has these.
bool Cache::keep_on_disk(store::Object const& object, std::string_view rival, store::DiskFill* on_disk) {
    auto const parts = object.parts();
    bool const kept = on_disk ? on_disk->commit(parts) : disk_->store(parts) == store::NotStored::none;
    if (!kept && on_disk) disk_->forget(parts.key);
    disk_->forget(rival);
    return kept;
}

/// The same. Variants are found through the marker alone, which has the key of the URL.
bool Cache::forget_on_disk(Key const& key) {
    if (!disk_) return false;
    bool const whole = disk_->forget(key.text);
    bool const parts = disk_->forget(parts_text(key.text));
    return whole || parts;
}

void Cache::tell_disk(Key const& key, store::Object const& object) {
    if (!disk_) return;
    bool const is_variant = object.key().size() != key.text.size();
    if (is_variant) disk_->used(key.text);   // its marker
    if (!disk_->used(object.key())) return;
    auto& shard = this->shard(key.fingerprint);
    MutexLock const lock(shard.mutex);
    if (holds(shard, object, key) && !is_over(shard, object)) disk_->store(object.parts());
}

// ---- from disk ----

net::awaitable<store::ObjectPtr> Cache::load(std::string_view key, net::Executor executor) {
    if (!disk_->may_have(key)) co_return nullptr;
    co_return co_await disk_->load(key, executor);
}

net::awaitable<store::ObjectPtr> Cache::parts_on_disk(std::string_view key, net::Executor executor) {
    auto const text = parts_text(key);
    if (!disk_ || !disk_->may_have(text)) co_return nullptr;
    co_return co_await disk_->load(text, executor);
}

net::awaitable<store::ObjectPtr> Cache::parts_from_disk(Key const& key, http::RequestHead const& request,
                                                        net::Executor executor) {
    OnDisk found;
    std::string text(key.text);
    found.marker = find(key.text, key.fingerprint);
    if (found.marker) {
        if (found.marker->kind() != store::Object::Kind::vary_marker) co_return nullptr;
        text = variant_text(key.text, http::variant_key(found.marker->head(), request.fields));
    }
    found.object = co_await parts_on_disk(text, executor);
    if (!found.object || !found.object->body() || !found.object->body()->missing()) co_return nullptr;
    if (found.marker && found.object->sequence() < found.marker->sequence()) co_return nullptr;
    co_return co_await into_memory(key, found, executor);
}

/// The response that the request selects; what was stored before the URL's Vary changed is none.
net::awaitable<Cache::OnDisk> Cache::find_on_disk(Key const& key, http::RequestHead const& request, bool variant_missing,
                                                  WallTime now, net::Executor executor) {
    OnDisk found;
    if (variant_missing)
        found.marker = find(key.text, key.fingerprint);
    else
        found.object = co_await load(key.text, executor);
    if (found.object && found.object->kind() == store::Object::Kind::vary_marker) found.marker.swap(found.object);
    std::string text(key.text);
    if (found.marker) {
        if (found.marker->kind() != store::Object::Kind::vary_marker) co_return OnDisk{};
        found.variant = http::variant_key(found.marker->head(), request.fields);
        text = variant_text(key.text, found.variant);
        found.object = co_await load(text, executor);
        if (found.object && found.object->sequence() < found.marker->sequence()) found.object = nullptr;
    }
    if (found.object || !request.fields.has(http::Name::range)) co_return found;
    found.object = co_await load(parts_text(text), executor);
    bool const outdated = found.object && found.marker && found.object->sequence() < found.marker->sequence();
    if (outdated || (found.object && !can_answer(*found.object, request, now))) found.object = nullptr;
    co_return found;
}

/// As find_on_disk().
void Cache::peek_on_disk(Peek& absent, Key const& key, http::RequestHead const& request,
                         http::RequestCacheControl const& control, WallTime now) const {
    auto object = absent.vary.empty() ? disk_->peek(key.text) : nullptr;
    auto marker = absent.vary.empty() ? nullptr : find(key.text, key.fingerprint);
    if (object && object->kind() == store::Object::Kind::vary_marker) marker.swap(object);
    std::string text(key.text);
    if (marker) {
        absent.vary = marker->head();
        absent.selected = http::variant_key(absent.vary, request.fields);
        text = variant_text(key.text, absent.selected);
        object = disk_->peek(text);
    }
    auto const is_current = [&marker](store::ObjectPtr const& found) {
        return found && (!marker || found->sequence() >= marker->sequence());
    };
    if (is_current(object)) {
        absent.object = object;
        absent.answer = http::may_reuse(object->terms(), control, now);
    } else if (auto const parts = disk_->peek(parts_text(text)); is_current(parts)) {
        absent.parts = parts;
        absent.from_disk = true;
        bool const of_range = request.fields.has(http::Name::range);
        absent.part_missing = of_range && !can_answer(*parts, request, now);
        if (!of_range || absent.part_missing) return;
        absent.object = parts;
        absent.answer = may_reuse_parts(*parts, control, now);
    } else {
        return;
    }
    absent.kind = kind_of(absent.answer.reuse);
    absent.from_disk = true;
}

/// A charged copy with its body, or nullptr when memory has no room for it, or holds others worth more. Where the disk does
/// not give the bytes, `loaded.object` goes: what is known to be incomplete shall not be begun.
net::awaitable<store::ObjectPtr> Cache::into_memory(Key const& key, OnDisk& loaded, net::Executor executor) {
    auto parts = loaded.object->parts();
    Bytes const to_come = parts.body ? parts.body->size() : 0;
    if (!admits(parts, key.fingerprint, to_come)) co_return nullptr;
    if (parts.body) {
        bool room = true;
        // What comes slowly is sent as it comes, beside memory: nobody waits until it is all there.
        auto const give_up = steady_now() + disk_->options().patience;
        auto reserve = [&](Bytes bytes) {
            room = steady_now() < give_up && reserve_growing(bytes, key.fingerprint);
            return room;
        };
        auto const source = parts.body->source();
        parts.body = co_await store::in_memory(parts.body, budget_, reserve, executor);
        if (!parts.body && room && source && !source->is_whole()) disk_->forget(parts.key);
        if (!parts.body && room) loaded.object = nullptr;
        if (!parts.body) co_return nullptr;
    }
    co_return make_object(parts, key.fingerprint);
}

/// Of a URL whose variant is not there: the next to be stored then goes beside those that are.
void Cache::keep_marker(Key const& key, store::Object const& marker, Fill const& by) {
    auto const charged = make_object(marker.parts(), key.fingerprint);
    if (!charged) return;
    auto& shard = this->shard(key.fingerprint);
    MutexLock const lock(shard.mutex);
    if (by.in_shard(shard.mutex).overtaken || !by.in_shard(shard.mutex).attached || shard.find(key.fingerprint, key.text)) return;
    shard.put(key.fingerprint, charged);
    note_bytes(shard, key.fingerprint);
    settle(shard, key.fingerprint);
}

Lookup Cache::look_again(Key const& key, http::RequestHead const& request, http::RequestCacheControl const& control,
                         WallTime now, Collapse collapse) {
    Lookup result;
    auto& shard = this->shard(key.fingerprint);
    MutexLock const lock(shard.mutex);
    auto const found = select(shard, key, request).found;
    if (!found) return result;
    return answer_from(shard, found, key, control, now, collapse, !request.fields.has(http::Name::authorization));
}

/// Costs a miss a hash and a probe, and no coroutine.
bool Cache::may_be_on_disk(Lookup const& found, Key const& key, http::RequestHead const& request) const {
    if (!disk_ || found.kind != Lookup::Kind::absent) return false;
    bool const in_parts = request.fields.has(http::Name::range);
    return found.variant_missing || disk_->may_have(key.text) || (in_parts && disk_->may_have(parts_text(key.text)));
}

net::awaitable<bool> Cache::look_on_disk(Lookup& found, Key const& key, http::RequestHead const& request,
                                         http::RequestCacheControl const& control, WallTime now, Collapse collapse,
                                         net::Executor executor) {
    // What is purged or stored meanwhile finds this lease, and what was read before it neither comes into memory nor is sent.
    bool const leads = static_cast<bool>(found.lead);
    auto lead = leads ? std::move(found.lead) : lease_alone(key, nullptr);
    begin_to_read(lead);
    auto loaded = co_await find_on_disk(key, request, found.variant_missing, now, executor);
    lead.fill()->marker_ = loaded.marker;
    store::ObjectPtr charged;
    if (loaded.object) charged = co_await into_memory(key, loaded, executor);
    bool const is_whole = loaded.object && !is_incomplete(*loaded.object);
    if (charged) {
        http::VaryNames vary;
        if (loaded.marker) vary = http::parse_vary(loaded.marker->head());
        auto const sequence = loaded.marker ? loaded.marker->sequence() : 0;
        if (!lead.loaded(charged, vary, loaded.variant, sequence)) co_return false;
        auto again = is_whole ? look_again(key, request, control, now, collapse) : lookup_parts(key, request, control, now);
        if (again.object) {
            found = std::move(again);
            found.from_disk = true;
            co_return true;
        }
    } else if (is_overtaken(*lead.fill())) {
        lead.look_again();
        co_return false;
    }
    if (!loaded.object) {
        if (loaded.marker && !found.variant_missing) keep_marker(key, *loaded.marker, *lead.fill());
        found.variant_missing = static_cast<bool>(loaded.marker);
        if (leads) found.lead = std::move(lead);
        co_return true;
    }
    found.object = charged ? charged : loaded.object;
    found.answer = is_whole ? http::may_reuse(found.object->terms(), control, now) : may_reuse_parts(*found.object, control, now);
    found.kind = kind_of(found.answer.reuse);
    found.variant_missing = false;
    found.from_disk = true;
    if (found.kind == Lookup::Kind::stale && leads && lead)
        found.lead = std::move(lead);
    else if (lead)
        lead.look_again();
    co_return true;
}

}  // namespace garner::cache
