#include "cache/value_walk.hpp"

#include <algorithm>
#include <ranges>

namespace garner::cache {

namespace {

constexpr policy::Slot slots_at_once = 64;

}   // namespace

ValueWalk::ValueWalk(MemoryTier& memory) : memory_(memory) {
    for (std::size_t i = 0; i < memory.shards_.size(); ++i) {
        memory.renew_policy(i);
        auto& shard = *memory.shards_[i];
        MutexLock const lock(shard.mutex);
        unread_.push_back(static_cast<policy::Slot>(shard.objects()));
    }
}

/// Hashes spread objects evenly: the shards take turns.
bool ValueWalk::next(std::vector<store::ObjectPtr>& into) {
    for (std::size_t tries = 0; tries < unread_.size(); ++tries) {
        auto const index = turn_++ % unread_.size();
        if (unread_[index] == 0) continue;
        read(index, into);
        return true;
    }
    return false;
}

void ValueWalk::read(std::size_t index, std::vector<store::ObjectPtr>& into) {
    auto const count = std::min(unread_[index], slots_at_once);
    unread_[index] -= count;
    std::vector<store::ObjectPtr> met;
    auto& shard = *memory_.shards_[index];
    MutexLock const lock(shard.mutex);
    shard.collect(unread_[index], count, met);
    for (auto const& object : std::views::reverse(met)) {
        auto const url = url_of(object->key());
        auto const primary = memory_.fingerprint_of(url);
        bool const is_part = whole_of(object->key()) != object->key();
        if (is_part || shard.url(primary) || memory_.invalidations.judge(*object)) continue;
        bool const is_variant = url.size() < object->key().size();
        if (is_variant) {
            auto const marker = shard.find(primary, url);
            if (!is_marker(marker.object)) continue;
            into.emplace_back(marker.object);
        }
        into.push_back(object);
    }
}

void ValueWalk::drop(std::span<store::ObjectPtr const> objects) {
    for (auto const& object : objects) {
        auto const primary = memory_.primary_of(*object);
        store::ObjectPtr gone;
        auto& shard = memory_.shard(primary);
        MutexLock const lock(shard.mutex);
        auto const found = memory_.find(shard, object->key());
        if (found.object != object.get()) continue;
        gone = shard.remove(found.slot, policy::Left::purged);
        memory_.note_bytes(shard, primary);
    }
}

}   // namespace garner::cache
