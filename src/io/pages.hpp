// Page-aligned memory for large disk transfers.
#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <memory>
#include <new>

namespace garner::io {

inline constexpr std::size_t page_bytes = 4096;   // at least the alignment that any disk requires for transfers

struct Unmap {
    std::size_t size = 0;
    void operator()(char* bytes) const { ::munmap(bytes, size); }
};
using Pages = std::unique_ptr<char[], Unmap>;

/// Zeroed, page-aligned memory of this size, in huge pages if available, which reduces page faults and lookups.
/// Memory is allocated on first touch. Throws std::bad_alloc.
inline Pages make_pages(std::size_t bytes) {
    auto* const mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    ::madvise(mapped, bytes, MADV_HUGEPAGE);   // a hint only
    return Pages(static_cast<char*>(mapped), Unmap{bytes});
}

}   // namespace garner::io
