// Segments of the log that are not fully written yet.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "io/pages.hpp"
#include "store/disk_format.hpp"
#include "util/clock.hpp"
#include "util/mutex.hpp"

namespace garner::store::disk {

/// Memory for one more segment, kept because allocating a new one costs as much as writing it. Outlives the log while
/// readers remain. Thread-safe.
struct Spare {
    io::Pages take(std::size_t bytes) {
        MutexLock const lock(mutex);
        if (kept) return std::move(kept);
        auto pages = io::make_pages(bytes);
        allocated += bytes;
        return pages;
    }
    void put(io::Pages bytes) {
        MutexLock const lock(mutex);
        kept.swap(bytes);   // keeps at most one
        if (bytes) allocated -= bytes.get_deleter().size;
    }
    /// The memory of all segments in memory, and of the spare one.
    Bytes bytes() {
        MutexLock const lock(mutex);
        return allocated;
    }
    /// Touches the pages, so that a worker does not wait for page faults.
    void prepare(std::size_t bytes) try {
        {
            MutexLock const lock(mutex);
            if (kept) return;
        }
        auto pages = io::make_pages(bytes);
        for (std::size_t at = 0; at < bytes; at += io::page_bytes) pages[at] = '\0';
        {
            MutexLock const lock(mutex);
            allocated += bytes;
        }
        put(std::move(pages));
    } catch (std::bad_alloc const&) {
        // The thread that needs the memory allocates it again.
    }
    Mutex mutex;
    io::Pages kept GUARDED_BY(mutex);
    Bytes allocated GUARDED_BY(mutex) = 0;
};

/// The bytes of a segment until they are written.
struct Buffer {
    explicit Buffer(std::shared_ptr<Spare> from, std::size_t size) : spare(std::move(from)), bytes(spare->take(size)) {}
    ~Buffer() { spare->put(std::move(bytes)); }
    Buffer(Buffer const&) = delete;

    std::shared_ptr<Spare> spare;
    std::uint32_t segment = 0;
    std::uint64_t generation = 0;
    WallTime opened{};
    std::uint64_t position = 0;   // position of its first byte in the total ever appended
    io::Pages bytes;
    Bytes used = 0;
    Bytes written = 0;
    std::vector<Bytes> copying;   // offsets of records still being filled
    std::vector<FooterEntry> entries;
    std::size_t entries_written = 0;
    bool closed = false;

    Bytes ready() const { return copying.empty() ? used : *std::min_element(copying.begin(), copying.end()); }
    static constexpr Bytes turn_most = 2 * MiB;   // bytes of one write: records appended meanwhile wait for it
    Bytes ready_for_a_turn() const;
};

/// The bytes for one write, ending at a record boundary.
inline Bytes Buffer::ready_for_a_turn() const {
    auto const all = ready();
    if (all - written <= turn_most) return all;
    auto const offset_of = [](FooterEntry const& entry) { return entry.offset * unit; };
    auto const next = std::ranges::upper_bound(entries, written + turn_most, {}, offset_of);
    return next == entries.end() ? all : std::min(all, offset_of(*next));
}

}   // namespace garner::store::disk
