// Buffers of one size, kept for reuse by one worker.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "util/bytes.hpp"

namespace garner::net {

class BufferPool;

/// A buffer on loan; goes back by itself. Move-only; must not outlive its pool.
class Buffer {
public:
    Buffer() = default;
    Buffer(BufferPool& pool, std::unique_ptr<char[]> bytes) : pool_(&pool), bytes_(std::move(bytes)) {}
    Buffer(Buffer&&) = default;
    Buffer& operator=(Buffer&& other) noexcept;
    ~Buffer();
    char* data() const { return bytes_.get(); }
    explicit operator bool() const { return bytes_ != nullptr; }

private:
    BufferPool* pool_ = nullptr;
    std::unique_ptr<char[]> bytes_;
};

/// Not thread-safe: one a worker.
class BufferPool {
public:
    static constexpr std::size_t size = 64 * KiB;   // fits a response head of the largest size
    static constexpr std::size_t kept_max = 256;

    Buffer take() {
        if (kept_.empty()) return Buffer(*this, std::make_unique_for_overwrite<char[]>(size));
        auto bytes = std::move(kept_.back());
        kept_.pop_back();
        return Buffer(*this, std::move(bytes));
    }

private:
    friend class Buffer;
    std::vector<std::unique_ptr<char[]>> kept_;
};

inline Buffer& Buffer::operator=(Buffer&& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(bytes_, other.bytes_);
    return *this;
}

inline Buffer::~Buffer() {
    if (bytes_ && pool_->kept_.size() < BufferPool::kept_max) pool_->kept_.push_back(std::move(bytes_));
}

}  // namespace garner::net
