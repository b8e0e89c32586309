// Reads the memory tier for another process: the most valuable objects first.
#pragma once
#include <span>
#include <vector>

#include "cache/memory_tier.hpp"

namespace garner::cache {

/// Used on one thread, while requests run.
class ValueWalk {
public:
    /// Takes the order of eviction. The policies forget all but this order. Holds each shard's mutex for some milliseconds per ten
    /// thousand objects.
    explicit ValueWalk(MemoryTier& memory);

    /// Adds the next objects to `into`; false at the end. A Vary marker comes before its variants, perhaps several times. Parts
    /// are left out, objects that an invalidation has outdated, and URLs that are being fetched: a client may have received a newer
    /// response.
    bool next(std::vector<store::ObjectPtr>& into);
    /// Removes those that are still in memory.
    void drop(std::span<store::ObjectPtr const> objects);

private:
    void read(std::size_t index, std::vector<store::ObjectPtr>& into);

    MemoryTier& memory_;
    std::vector<policy::Slot> unread_;   // of each shard: the slots below are to be read, from the last one on
    std::size_t turn_ = 0;
};

}   // namespace garner::cache
