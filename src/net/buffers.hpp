// Buffers of one size, kept for reuse by one worker.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "util/bytes.hpp"

namespace garner::net {

/// Buffers of `bytes_each`. Not thread-safe: one per worker. Outlives its buffers.
template <std::size_t bytes_each>
class BufferPoolOf {
public:
    static constexpr std::size_t size = bytes_each;
    static constexpr std::size_t kept_max = 256;

    struct GiveBack {
        BufferPoolOf* pool = nullptr;
        void operator()(char* bytes) const { pool->keep(std::unique_ptr<char[]>(bytes)); }
    };
    /// A borrowed buffer; its deleter returns it to the pool.
    using Buffer = std::unique_ptr<char[], GiveBack>;

    Buffer take() {
        if (kept_.empty()) allocate();
        Buffer taken(kept_.back().release(), GiveBack{this});
        kept_.pop_back();
        unused_ = std::min(unused_, kept_.size());
        return taken;
    }
    /// Frees the buffers that were not used since the last call.
    void sweep() {
        kept_.erase(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(unused_));
        add(0 - unused_);
        unused_ = kept_.size();
    }
    /// All buffers, borrowed and kept. From any thread.
    Bytes bytes() const { return buffers_.load(std::memory_order_relaxed) * size; }

private:
    void allocate() {
        kept_.push_back(std::make_unique_for_overwrite<char[]>(size));
        add(1);
    }
    void keep(std::unique_ptr<char[]> bytes) {
        if (kept_.size() < kept_max)
            kept_.push_back(std::move(bytes));
        else
            add(std::size_t{0} - 1);
    }
    /// The only writer is the worker.
    void add(std::size_t more) { buffers_.store(buffers_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed); }

    std::vector<std::unique_ptr<char[]>> kept_;   // the last one was used last
    std::size_t unused_ = 0;                      // the least number of `kept_` since the last sweep
    std::atomic<std::size_t> buffers_{0};
};

using BufferPool = BufferPoolOf<64 * KiB>;   // each holds a response head of the largest size
using Buffer = BufferPool::Buffer;
using HeadBufferPool = BufferPoolOf<4 * KiB>;

}   // namespace garner::net
