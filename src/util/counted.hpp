// Counts living objects and their bytes, over all threads of the process, for the figures of memory.
#pragma once
#include <atomic>
#include <cstddef>
#include <utility>

#include "util/bytes.hpp"

namespace garner {

/// A base of `Object`. Each begin and end of an object costs a locked addition, too much for objects that every request creates.
template <class Object>
class Counted {
public:
    static std::size_t alive() { return alive_.load(std::memory_order_relaxed); }

protected:
    Counted() { alive_.fetch_add(1, std::memory_order_relaxed); }
    Counted(Counted const&) : Counted() {}
    Counted& operator=(Counted const&) = default;
    ~Counted() { alive_.fetch_sub(1, std::memory_order_relaxed); }

private:
    static inline std::atomic<std::size_t> alive_{0};
};

/// A member that adds the bytes of its object to the sum of all `Owner`s while it lives.
template <class Owner>
class CountedBytes {
public:
    CountedBytes() = default;
    explicit CountedBytes(Bytes bytes) : bytes_(bytes) { sum_.fetch_add(bytes, std::memory_order_relaxed); }
    CountedBytes(CountedBytes const& other) : CountedBytes(other.bytes_) {}
    CountedBytes(CountedBytes&& other) noexcept : bytes_(std::exchange(other.bytes_, 0)) {}
    CountedBytes& operator=(CountedBytes other) noexcept {
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~CountedBytes() { sum_.fetch_sub(bytes_, std::memory_order_relaxed); }

    static Bytes sum() { return sum_.load(std::memory_order_relaxed); }

private:
    static inline std::atomic<Bytes> sum_{0};
    Bytes bytes_ = 0;
};

}   // namespace garner
