// Memory for what is handed to a disk by the megabyte.
#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <memory>
#include <new>

namespace garner::io {

inline constexpr std::size_t page_bytes = 4096;   // at least what any disk wants its transfers to begin at

struct Unmap {
    std::size_t size = 0;
    void operator()(char* bytes) const { ::munmap(bytes, size); }
};
using Pages = std::unique_ptr<char[], Unmap>;

/// That many bytes, zero, beginning on a page; in large pages where there are any, so that the system need not provide, and
/// a transfer not look up, each small one. Takes memory as it is touched. Throws std::bad_alloc.
inline Pages make_pages(std::size_t bytes) {
    auto* const mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    ::madvise(mapped, bytes, MADV_HUGEPAGE);   // a wish
    return Pages(static_cast<char*>(mapped), Unmap{bytes});
}

}  // namespace garner::io
