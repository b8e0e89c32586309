// Memory for what is handed to a disk by the megabyte.
#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

namespace garner::io {

inline constexpr std::size_t page_bytes = 4096;   // at least what any disk wants its transfers to begin at

struct FreePages {
    void operator()(char* bytes) const { std::free(bytes); }
};
using Pages = std::unique_ptr<char[], FreePages>;

/// That many bytes, undefined, beginning on a page; in large pages where there are any, so that the system need not
/// provide, and a transfer not look up, each small one. Throws std::bad_alloc.
inline Pages make_pages(std::size_t bytes) {
    constexpr std::size_t large_page = 2 << 20;
    auto const alignment = bytes >= large_page ? large_page : page_bytes;
    auto const size = (bytes + alignment - 1) / alignment * alignment;
    Pages pages(static_cast<char*>(std::aligned_alloc(alignment, size)));
    if (!pages) throw std::bad_alloc();
    if (alignment == large_page) ::madvise(pages.get(), size, MADV_HUGEPAGE);   // a wish
    return pages;
}

}  // namespace garner::io
