// Memory for the head of a client's next request.
#pragma once
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "net/buffers.hpp"

namespace garner::net {

/// A buffer of the worker's pool, or more for larger heads; nothing while a connection is idle. Not thread-safe: belongs to its
/// worker.
class HeadBuffer {
public:
    static constexpr std::size_t usual = HeadBufferPool::size;

    explicit HeadBuffer(HeadBufferPool& pool) : pool_(pool) {}

    /// Null without memory.
    char* data() { return large_.empty() ? pooled_.get() : large_.data(); }
    char const* data() const { return large_.empty() ? pooled_.get() : large_.data(); }
    /// 0 without memory, else at least `usual`.
    std::size_t size() const { return large_.empty() ? (pooled_ ? usual : 0) : large_.size(); }

    void take() {
        if (size() == 0) pooled_ = pool_.take();
    }
    /// Keeps the bytes.
    void grow(std::size_t size) {
        if (size <= this->size()) return;
        if (size <= usual) return take();
        std::vector<char> larger(size);
        if (auto const before = this->size(); before > 0) std::copy_n(data(), before, larger.data());
        large_.swap(larger);
        pooled_ = {};
    }
    void release() {
        pooled_ = {};
        if (!large_.empty()) std::vector<char>().swap(large_);
    }

private:
    HeadBufferPool& pool_;
    HeadBufferPool::Buffer pooled_;
    std::vector<char> large_;   // instead of `pooled_`, if not empty
};

}   // namespace garner::net
