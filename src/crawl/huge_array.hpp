// Large zero-initialised arrays in huge pages, for tables with random access.
#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "util/bytes.hpp"

namespace garner::crawl {

/// Zero-initialised. Memory is allocated on first use and returned to the system on destruction. Throws
/// std::bad_alloc.
template <class Item>
class HugeArray {
    static_assert(std::is_trivially_copyable_v<Item>);

public:
    HugeArray() = default;
    explicit HugeArray(std::size_t size) : size_(size) {
        if (size == 0) return;
        auto const wanted = bytes();
        // Aligned to a huge page; the excess of the mapping is unmapped.
        auto const spare = wanted >= page ? page : 0;
        void* const mapped = ::mmap(nullptr, wanted + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (mapped == MAP_FAILED) throw std::bad_alloc();
        auto* begin = static_cast<char*>(mapped);
        if (spare > 0) {
            auto const skipped = (page - reinterpret_cast<std::size_t>(begin) % page) % page;
            if (skipped > 0) ::munmap(begin, skipped);
            begin += skipped;
            auto* const end = begin + (wanted + small - 1) / small * small;
            auto* const mapped_end = static_cast<char*>(mapped) + (wanted + spare + small - 1) / small * small;
            if (mapped_end > end) ::munmap(end, static_cast<std::size_t>(mapped_end - end));
            ::madvise(begin, wanted, MADV_HUGEPAGE);
        }
        items_ = reinterpret_cast<Item*>(begin);
    }
    HugeArray(HugeArray&& other) noexcept : items_(std::exchange(other.items_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    HugeArray& operator=(HugeArray&& other) noexcept {
        std::swap(items_, other.items_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~HugeArray() {
        if (items_) ::munmap(items_, bytes());
    }

    Item* data() { return items_; }
    Item const* data() const { return items_; }
    std::size_t size() const { return size_; }
    Bytes bytes() const { return size_ * sizeof(Item); }
    Item& operator[](std::size_t i) { return items_[i]; }
    Item const& operator[](std::size_t i) const { return items_[i]; }
    operator std::span<Item>() { return {items_, size_}; }

private:
    static constexpr std::size_t page = 2 * MiB, small = 4 * KiB;

    Item* items_ = nullptr;
    std::size_t size_ = 0;
};

}   // namespace garner::crawl
