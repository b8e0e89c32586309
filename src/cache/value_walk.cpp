#include "cache/value_walk.hpp"

#include <algorithm>
#include <functional>
#include <ranges>

namespace garner::cache {

namespace {

constexpr policy::Slot slots_at_once = 64;
constexpr std::size_t places_at_once = 16;   // a request of the other process waits for them

}   // namespace

ValueWalk::ValueWalk(MemoryTier& memory) : memory_(memory) {
    for (std::size_t i = 0; i < memory.shards_.size(); ++i) {
        memory.renew_policy(i);
        auto& shard = *memory.shards_[i];
        MutexLock const lock(shard.mutex);
        unread_.push_back(static_cast<policy::Slot>(shard.objects()));
    }
}

bool ValueWalk::next(std::vector<Walked>& into) { return places_ ? next_by_address(into) : next_by_value(into); }

// ---- by value ----

/// Hashes spread objects evenly: the shards take turns.
bool ValueWalk::next_by_value(std::vector<Walked>& into) {
    for (std::size_t tries = 0; tries < unread_.size(); ++tries) {
        auto const index = turn_++ % unread_.size();
        if (unread_[index] == 0) continue;
        read(index, into);
        return true;
    }
    return false;
}

void ValueWalk::read(std::size_t index, std::vector<Walked>& into) {
    auto const count = std::min(unread_[index], slots_at_once);
    unread_[index] -= count;
    std::vector<store::ObjectPtr> met;
    auto& shard = *memory_.shards_[index];
    MutexLock const lock(shard.mutex);
    shard.collect(unread_[index], count, met);
    for (auto const& object : std::views::reverse(met)) add(shard, object, std::nullopt, into);
}

void ValueWalk::add(Shard& shard, store::ObjectPtr const& object, std::optional<std::uint64_t> rank, std::vector<Walked>& into) {
    auto const url = url_of(object->key());
    auto const primary = memory_.fingerprint_of(url);
    bool const is_part = whole_of(object->key()) != object->key();
    if (is_part || shard.url(primary) || memory_.invalidations.judge(*object).is_invalidated()) return;
    bool const is_variant = url.size() < object->key().size();
    if (is_variant) {
        auto const marker = shard.find(primary, url);
        if (!is_marker(marker.object)) return;
        into.push_back({store::ObjectPtr(marker.object), rank});
    }
    into.push_back({object, rank});
}

// ---- by address ----

void ValueWalk::go_by_address() {
    auto& places = places_.emplace();
    for (std::uint32_t index = 0; index < unread_.size(); ++index) {
        auto& shard = *memory_.shards_[index];
        std::vector<store::ObjectPtr> one;
        MutexLock const lock(shard.mutex);
        for (policy::Slot slot = 0; slot < unread_[index]; ++slot, one.clear()) {
            shard.collect(slot, 1, one);
            if (!one.empty()) places.push_back({reinterpret_cast<std::uintptr_t>(one.front().get()), index, slot});
        }
    }
    std::ranges::sort(places, std::greater<>{}, &WalkStop::address);
}

bool ValueWalk::next_by_address(std::vector<Walked>& into) {
    if (places_->empty()) return false;
    std::vector<store::ObjectPtr> one;
    for (std::size_t i = 0; i < places_at_once && !places_->empty(); ++i, one.clear()) {
        auto const place = places_->back();
        places_->pop_back();
        auto& shard = *memory_.shards_[place.shard];
        MutexLock const lock(shard.mutex);
        shard.collect(place.slot, 1, one);
        if (!one.empty()) add(shard, one.front(), unread_[place.shard] - place.slot, into);
    }
    return true;
}

void ValueWalk::find(std::string_view key, std::vector<Walked>& into) {
    auto& shard = memory_.shard(memory_.fingerprint_of(url_of(key)));
    MutexLock const lock(shard.mutex);
    auto const found = memory_.find(shard, key);
    if (found) add(shard, store::ObjectPtr(found.object), std::nullopt, into);
}

void ValueWalk::drop(store::Object const& object) {
    auto const primary = memory_.primary_of(object);
    store::ObjectPtr gone;
    auto& shard = memory_.shard(primary);
    MutexLock const lock(shard.mutex);
    auto const found = memory_.find(shard, object.key());
    if (found.object != &object) return;
    gone = shard.remove(found.slot, policy::Left::purged);
    memory_.note_bytes(shard, primary);
}

}   // namespace garner::cache
