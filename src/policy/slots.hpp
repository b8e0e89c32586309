// Dense arrays by slot that grow in chunks.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "policy/policy.hpp"

namespace garner::policy {

/// An array of T by slot. It grows one chunk at a time and never moves what it holds, so growing under a shard's lock
/// costs one small allocation. New items are value-initialised. Chunks begin on a cache line.
template <class T, std::size_t ChunkItems = 64>
class SlotArray {
public:
    static constexpr std::size_t chunk_items = ChunkItems;

    /// Only for indices that were covered before.
    T& operator[](std::size_t index) { return chunks_[index / chunk_items]->items[index % chunk_items]; }
    T const& operator[](std::size_t index) const { return chunks_[index / chunk_items]->items[index % chunk_items]; }

    bool covers(std::size_t index) const { return index / chunk_items < chunks_.size(); }

    /// Grows, if need be, until `index` may be used. Slots are dense, so this is seldom more than one chunk.
    void cover(std::size_t index) {
        while (!covers(index)) chunks_.push_back(std::make_unique<Chunk>());
    }

    Bytes metadata_bytes() const {
        return chunks_.size() * sizeof(Chunk) + chunks_.capacity() * sizeof(std::unique_ptr<Chunk>);
    }

private:
    struct alignas(64) Chunk {
        T items[chunk_items]{};
    };
    std::vector<std::unique_ptr<Chunk>> chunks_;
};

}  // namespace garner::policy
