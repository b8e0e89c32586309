// Buffers of one size, kept for reuse by one worker.
#pragma once
#include <memory>
#include <vector>

#include "util/bytes.hpp"

namespace garner::net {

/// Not thread-safe: one per worker. Outlives its buffers.
class BufferPool {
public:
    static constexpr std::size_t size = 64 * KiB;   // holds a response head of the largest size
    static constexpr std::size_t kept_max = 256;

    struct GiveBack {
        BufferPool* pool = nullptr;
        void operator()(char* bytes) const { pool->keep(std::unique_ptr<char[]>(bytes)); }
    };
    /// A borrowed buffer; its deleter returns it to the pool.
    using Buffer = std::unique_ptr<char[], GiveBack>;

    Buffer take() {
        if (kept_.empty()) kept_.push_back(std::make_unique_for_overwrite<char[]>(size));
        Buffer taken(kept_.back().release(), GiveBack{this});
        kept_.pop_back();
        return taken;
    }

private:
    void keep(std::unique_ptr<char[]> bytes) {
        if (kept_.size() < kept_max) kept_.push_back(std::move(bytes));
    }
    std::vector<std::unique_ptr<char[]>> kept_;
};

using Buffer = BufferPool::Buffer;

}   // namespace garner::net
