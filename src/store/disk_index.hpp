// Where on disk each record lies: ten bytes of memory for each, by hash alone.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "util/bytes.hpp"
#include "util/hash.hpp"

namespace garner::store::disk {

/// Thread-safe: a region's mutex is held for one probe. Knows a record by 32 bits of its hash or more: two with the same
/// bits take each other's place, and whoever reads the record compares its key. Never refuses a newcomer.
class Index {
public:
    /// What an entry says. `bytes` is rounded up, at most by a third.
    struct Entry {
        Bytes offset = 0;              // in the file
        Bytes bytes = 0;
        std::uint8_t freshness = 0;    // 0 to 7, as given
        std::uint8_t uses = 0;         // 0 to 3; more are not counted
    };
    static constexpr Bytes record_max = 400 * KiB;

    /// For a file of that size. Offsets are multiples of alignment(store_bytes).
    explicit Index(Bytes store_bytes);
    ~Index();
    /// 16 up to 256 GiB, then more, always a power of two.
    static Bytes alignment(Bytes store_bytes);

    std::optional<Entry> find(Fingerprint) const;
    /// The same, and counts a use.
    std::optional<Entry> use(Fingerprint);

    /// Puts an entry in the place of the one with its hash, if any; that one is returned. Its uses begin at 0.
    std::optional<Entry> put(Fingerprint, Bytes offset, Bytes bytes, std::uint8_t freshness);
    /// Only where there is none; false else.
    bool put_if_absent(Fingerprint, Bytes offset, Bytes bytes, std::uint8_t freshness);
    /// The record was copied: only where the entry still stands at `from`; its uses are halved. False else.
    bool move(Fingerprint, Bytes from, Bytes to, std::uint8_t freshness);
    std::optional<Entry> erase(Fingerprint);
    /// Only where the entry still stands at `offset`; false else.
    bool erase_at(Fingerprint, Bytes offset);
    void clear();

    /// Entries.
    std::uint64_t size() const;
    /// What it has taken from the heap, and itself.
    Bytes metadata_bytes() const;

private:
    struct Region;
    Region& region(Fingerprint) const;
    std::unique_ptr<Region[]> regions_;
    unsigned region_bits_;
    unsigned offset_shift_;
};

}  // namespace garner::store::disk
