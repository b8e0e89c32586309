// Dense arrays by slot that grow in chunks.
#pragma once
#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "policy/policy.hpp"

namespace garner::policy {

/// An array of T by slot. It grows by a chunk or a few and never moves what it holds, so growing under a shard's lock
/// costs one small allocation. New items are value-initialised. Chunks begin on a cache line.
template <class T, std::size_t ChunkItems = 64>
class SlotArray {
public:
    static constexpr std::size_t chunk_items = ChunkItems;

    /// Only for indices that were covered before.
    T& operator[](std::size_t index) { return chunks_[index / chunk_items]->items[index % chunk_items]; }
    T const& operator[](std::size_t index) const { return chunks_[index / chunk_items]->items[index % chunk_items]; }

    bool covers(std::size_t index) const { return index / chunk_items < chunks_.size(); }

    /// Grows, if need be, until `index` may be used. Slots are dense, so this is seldom more than once.
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

    // Each block of the heap that begins on a cache line costs up to another line beside it: where there are many
    // chunks, several come at once.
    void grow() {
        auto const count = std::clamp<std::size_t>(chunks_.size() / 64, 1, 8);
        blocks_.push_back(std::make_unique<Chunk[]>(count));
        for (std::size_t i = 0; i < count; ++i) chunks_.push_back(&blocks_.back()[i]);
    }

    std::vector<Chunk*> chunks_;
    std::vector<std::unique_ptr<Chunk[]>> blocks_;
};

}  // namespace garner::policy
