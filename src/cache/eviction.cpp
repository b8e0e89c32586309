// Admission to the memory tier, and eviction to make room.
#include <algorithm>

#include "cache/memory_tier.hpp"
#include "store/body_source.hpp"
#include "util/mutex.hpp"

namespace garner::cache {

bool MemoryTier::admits(store::Object::Parts const& parts, Fingerprint primary, Bytes growing) {
    if (parts.bytes.size() + growing > object_max()) return false;
    auto cost = store::Object::cost_of(parts) + growing;
    auto used = budget_.used();
    auto capacity = budget_.capacity();
    if (used + cost <= capacity) return true;
    auto of_key = fingerprint_of(parts.key);
    auto& shard = this->shard(primary);
    MutexLock const lock(shard.mutex);
    // A replacement of an existing object needs no admission.
    if (shard.find(of_key, parts.key) || shard.policy().admits(of_key, cost, used + cost - capacity)) return true;
    not_admitted_.fetch_add(1, std::memory_order_relaxed);
    return false;
}

store::ObjectPtr MemoryTier::make_object(store::Object::Parts const& parts, Fingerprint primary) {
    if (!reserve(store::Object::cost_of(parts), primary)) return nullptr;
    return store::Object::make(parts, &budget_);
}

store::BodyPtr MemoryTier::make_body(std::optional<Bytes> expected) { return store::BodyPtr(new store::Body(budget_, expected)); }

std::span<char> MemoryTier::room(store::Body& body, Fingerprint near) {
    bool const has_some = body.source() && body.charged() >= body.source()->piece();
    return body.room([&](Bytes bytes) {
        auto const filling = budget_.filling();
        bool const is_alone = filling <= body.charged();
        bool const leaves_half = has_some && !is_alone && filling + bytes > budget_.filling_capacity() / 2;
        return !leaves_half && reserve_growing(bytes, near);
    });
}

bool MemoryTier::reserve_growing(Bytes bytes, Fingerprint near) {
    if (!budget_.reserve_filling(bytes)) {
        memory_is_short_.store(true, std::memory_order_relaxed);
        refused_for_room_.fetch_add(1, std::memory_order_relaxed);
        return false;
    }
    if (reserve(bytes, near)) return true;
    budget_.release_filling(bytes);
    return false;
}

bool MemoryTier::reserve(Bytes bytes, Fingerprint near, Purpose purpose) {
    // Evicted objects may stay pinned by their readers: beyond some multiple of the need, more evictions only hurt.
    auto patience = 4 * bytes + MiB;
    constexpr Bytes small = 64 * KiB;   // an object of this size is not pinned: a socket takes it whole
    bool const is_large = bytes > small && purpose == Purpose::storing;
    for (Bytes gone = 0; !budget_.reserve(bytes);) {
        auto before = budget_.used();
        bool const pinned = is_pinned_full();
        if (pinned) memory_is_short_.store(true, std::memory_order_relaxed);
        bool const refused = bytes > budget_.capacity() || gone > patience || (pinned && is_large);
        if (refused || !evict_one(near, pinned ? Shard::Held::spared : Shard::Held::evicted)) {
            refused_for_room_.fetch_add(1, std::memory_order_relaxed);
            return false;
        }
        auto after = budget_.used();
        gone += before > after ? before - after : 4 * KiB;
    }
    return true;
}

Bytes MemoryTier::pinned() const {
    Bytes known = budget_.filling() + metadata_.load(std::memory_order_relaxed) + failures_.bytes();
    for (std::size_t i = 0; i < shards_.size(); ++i) known += shard_bytes_[i].load(std::memory_order_relaxed);
    // The shards' bytes are read one by one while others change them: the sum may briefly exceed the budget's use.
    auto const used = budget_.used();
    return used - std::min(used, known);
}

/// Readers of evicted objects may hold a quarter of the memory. Beyond that no large object is stored, and no object
/// being read is evicted: that would only pin more memory.
bool MemoryTier::is_pinned_full() const { return pinned() > budget_.capacity() / 4; }

/// Fetches that are no longer stored and have slow readers use up the fill share.
bool MemoryTier::is_filling_full() const { return budget_.filling() > budget_.filling_capacity() / 2; }

Fingerprint MemoryTier::primary_of(store::Object const& object) const { return fingerprint_of(url_of(object.key())); }

bool MemoryTier::wants_back(store::Object const& object) {
    if (!memory_is_short_.load(std::memory_order_relaxed) || object.cost() == 0) return false;
    bool const is_growing = object.body() && object.body()->state() == store::Body::State::growing;
    bool const pinned_full = is_pinned_full(), filling_full = is_filling_full();
    if (!pinned_full && !filling_full) memory_is_short_.store(false, std::memory_order_relaxed);
    if (!pinned_full && !(filling_full && is_growing)) return false;
    auto const url = primary_of(object);
    auto const of_key = fingerprint_of(object.key());
    auto& shard = this->shard(url);
    MutexLock const lock(shard.mutex);
    // A revalidated object has a new head over the same body.
    auto const holds = [&](store::Object const* other) {
        return other && (other == &object || (object.body() && other->body() == object.body()));
    };
    if (holds(shard.find(of_key, object.key()).object)) return false;
    return std::ranges::none_of(shard.fills(url), [&](FillPtr const& fill) { return holds(fill->view().object.get()); });
}

void MemoryTier::note_bytes(Shard& shard, Fingerprint primary) {
    shard_bytes_[number(primary)].store(shard.bytes(), std::memory_order_relaxed);
}

/// Ends an operation under a shard's lock, after which index, policy or marks may have grown. The growth is charged
/// before anything else; if it needs room, objects are evicted.
void MemoryTier::settle(Shard& shard, Fingerprint primary) {
    note_bytes(shard, primary);
    if (charge_metadata(shard)) return;
    auto const owed = shard.metadata_bytes() - shard.charged;
    bool reserved;
    {
        MutexUnlock const unlocked(shard.mutex);
        reserved = reserve(owed, primary);
    }
    if (!reserved) return;   // everything is filling or pinned: the shard's next insertion settles it
    set_charged(shard, shard.charged + owed);
    charge_metadata(shard);
}

/// False when the budget has no room for the growth; then nothing is charged.
bool MemoryTier::charge_metadata(Shard& shard) {
    auto const bytes = shard.metadata_bytes();
    if (bytes > shard.charged && !budget_.reserve(bytes - shard.charged)) return false;
    if (bytes < shard.charged) budget_.release(shard.charged - bytes);
    set_charged(shard, bytes);
    return true;
}

void MemoryTier::set_charged(Shard& shard, Bytes bytes) {
    metadata_.fetch_add(bytes - shard.charged, std::memory_order_relaxed);   // modulo 2^64
    shard.charged = bytes;
}

/// The newcomer's own shard if it exceeds its share, otherwise the fullest one.
std::size_t MemoryTier::shard_to_shrink(Fingerprint near) const {
    auto bytes = [&](std::size_t i) { return shard_bytes_[i].load(std::memory_order_relaxed); };
    auto const own = number(near);
    auto fullest = own;
    Bytes total = 0;
    for (std::size_t i = 0; i < shards_.size(); ++i) {
        total += bytes(i);
        if (bytes(i) > bytes(fullest)) fullest = i;
    }
    return bytes(own) * shards_.size() >= total ? own : fullest;
}

bool MemoryTier::evict_one(Fingerprint near, Shard::Held held) {
    // Other threads may empty the chosen shard first; then another one is tried.
    for (std::size_t tries = 0; tries < shards_.size(); ++tries) {
        auto index = shard_to_shrink(near);
        if (shard_bytes_[index].load(std::memory_order_relaxed) == 0) return false;
        if (evict_from(index, held)) return true;
    }
    return false;
}

bool MemoryTier::is_superseded(Shard const& shard, store::Object const& object) const {
    auto const url = url_of(object.key());
    auto const primary = fingerprint_of(url);
    auto const* fetched = shard.url(primary);
    if (!fetched) return false;
    auto const* at_url = shard.find(primary, url).object;
    return fetched->history.is_superseded(object, is_marker(at_url) ? at_url->head() : std::string_view());
}

bool MemoryTier::evict_from(std::size_t index, Shard::Held held) {
    auto& shard = *shards_[index];
    std::vector<store::ObjectPtr> gone;
    MutexLock const lock(shard.mutex);
    auto victim = shard.evict(held);
    if (!victim) return false;
    // Without its marker no variant can be found.
    if (is_marker(victim.get()))
        shard.drop_variants(fingerprint_of(victim->key()), gone);
    else if (behind_ && !is_superseded(shard, *victim))
        behind_.demote(*victim);
    gone.push_back(std::move(victim));
    shard_bytes_[index].store(shard.bytes(), std::memory_order_relaxed);
    evictions_.fetch_add(gone.size(), std::memory_order_relaxed);
    return true;
}

}   // namespace garner::cache
