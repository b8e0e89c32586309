// Dense arrays by slot that grow in chunks.
#pragma once
#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "policy/policy.hpp"

namespace garner::policy {

/// An array of T by slot. It grows by one or a few chunks and never moves items, so growth under a shard's lock costs
/// one small allocation. New items are value-initialised. Chunks are aligned to cache lines.
template <class T, std::size_t ChunkItems = 64>
class SlotArray {
public:
    static constexpr std::size_t chunk_items = ChunkItems;

    /// Only for covered indices.
    T& operator[](std::size_t index) { return chunks_[index / chunk_items]->items[index % chunk_items]; }
    T const& operator[](std::size_t index) const { return chunks_[index / chunk_items]->items[index % chunk_items]; }

    bool covers(std::size_t index) const { return index / chunk_items < chunks_.size(); }

    /// Grows until `index` is covered. Slots are dense, so this is seldom more than one step.
    void cover(std::size_t index) {
        while (!covers(index)) grow();
    }

    Bytes metadata_bytes() const {
        return chunks_.size() * sizeof(Chunk) + chunks_.capacity() * sizeof(Chunk*) +
               blocks_.capacity() * sizeof(std::unique_ptr<Chunk[]>);
    }

private:
    struct alignas(64) Chunk {
        T items[chunk_items]{};
    };

    // Each cache-line-aligned heap block wastes up to another line: with many chunks, several are allocated at once.
    void grow() {
        auto const count = std::clamp<std::size_t>(chunks_.size() / 64, 1, 8);
        blocks_.push_back(std::make_unique<Chunk[]>(count));
        for (std::size_t i = 0; i < count; ++i) chunks_.push_back(&blocks_.back()[i]);
    }

    std::vector<Chunk*> chunks_;
    std::vector<std::unique_ptr<Chunk[]>> blocks_;
};

}   // namespace garner::policy
