// Reads the memory tier for another process: the most valuable objects first.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "cache/memory_tier.hpp"

namespace garner::cache {

/// Used on one thread, while requests run.
class ValueWalk {
public:
    /// Takes the order of eviction. The policies forget all but this order. Holds each shard's mutex for some milliseconds per ten
    /// thousand objects.
    explicit ValueWalk(MemoryTier& memory);

    struct Walked {
        store::ObjectPtr object;
        std::optional<std::uint64_t> rank;   // lower: more valuable; nothing: more valuable than all that have one
    };
    /// Adds the next objects to `into`; false at the end. A Vary marker comes before its variants, perhaps several times. Parts
    /// are left out, objects that an invalidation has outdated, and URLs that are being fetched: a client may have received a newer
    /// response.
    bool next(std::vector<Walked>& into);
    /// From now on the others come in the order of their addresses: objects that are dropped then free whole pages. Holds each
    /// shard's mutex for a moment.
    void go_by_address();
    /// Adds the object under this key, unless next() would leave it out.
    void find(std::string_view key, std::vector<Walked>& into);
    /// Removes it if it is still in memory.
    void drop(store::Object const& object);

private:
    struct WalkStop {
        std::uintptr_t address;
        std::uint32_t shard;
        policy::Slot slot;
    };
    bool next_by_value(std::vector<Walked>& into);
    bool next_by_address(std::vector<Walked>& into);
    void read(std::size_t index, std::vector<Walked>& into);
    void add(Shard& shard, store::ObjectPtr const& object, std::optional<std::uint64_t> rank, std::vector<Walked>& into)
        REQUIRES(shard.mutex);

    MemoryTier& memory_;
    std::vector<policy::Slot> unread_;   // of each shard: the slots below are to be read, from the last one on
    std::size_t turn_ = 0;
    std::optional<std::vector<WalkStop>> places_;   // to be read from the last one on
};

}   // namespace garner::cache
