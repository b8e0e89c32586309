// The in-memory index of records on disk: ten bytes per record, by hash only.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "store/disk_sizes.hpp"
#include "util/bytes.hpp"
#include "util/hash.hpp"
#include "util/mutex.hpp"

namespace garner::store::disk {

/// Thread-safe: a lock is held for one probe, or while a few thousand entries move to a larger array. A record is
/// identified by the first 32 to 36 bits of its hash: two records with equal bits replace each other, and the reader
/// of a record compares its key. Never rejects an insertion. Uses 9 to 10 bytes an entry above a million entries;
/// memory is freed only by clear().
class Index {
public:
    /// `bytes` is rounded up: see disk_sizes.hpp.
    struct Entry {
        Bytes offset = 0;   // in the file
        Bytes bytes = 0;
        std::uint8_t freshness = 0;   // 0 to 7, as given to put()
        std::uint8_t uses = 0;        // 0 to 3, saturating
        friend bool operator==(Entry const&, Entry const&) = default;
    };
    /// Records have 1 to record_max bytes, in multiples of 16.
    static constexpr Bytes record_max = disk::record_max;
    /// Only this many leading bits of a hash are used; callers may pass the others as 0.
    static constexpr unsigned hash_bits_max = 36;

    /// `store_bytes`: the file size. Offsets are multiples of `alignment`; store_max(alignment) must be at least
    /// `store_bytes`.
    Index(Bytes store_bytes, Bytes alignment);
    explicit Index(Bytes store_bytes) : Index(store_bytes, alignment(store_bytes)) {}
    ~Index();
    /// The leading bits that identify a record in this index.
    Fingerprint known_bits(Fingerprint hash) const { return hash >> (64 - region_bits_ - tag_bits_); }
    /// 16 for files up to 256 GiB, then larger powers of two.
    static Bytes alignment(Bytes store_bytes);
    /// The largest file whose offsets can be addressed with this alignment.
    static Bytes store_max(Bytes alignment);

    /// Expects about this many entries: empty regions allocate for them at once, instead of growing by tenths.
    void reserve(std::uint64_t entries);

    std::optional<Entry> find(Fingerprint) const;
    /// find() that also counts a use; the result includes it.
    std::optional<Entry> use(Fingerprint);

    /// Inserts an entry, or replaces and returns the one with its hash. Its uses begin at 0.
    std::optional<Entry> put(Fingerprint, Bytes offset, Bytes bytes, std::uint8_t freshness);
    struct Newcomer {
        Fingerprint hash = 0;
        Bytes offset = 0;
        Bytes bytes = 0;
        std::uint8_t freshness = 0;
    };
    /// Inserts each entry unless its hash is present; if two have one hash, the first wins. Returns for each whether
    /// it was inserted. Takes a third of the time of separate put() calls: the next slots are prefetched.
    std::vector<bool> put_absent(std::span<Newcomer const> newcomers);
    /// After a record was copied: updates the entry if it still is at `from`, and halves its uses; otherwise false.
    bool move(Fingerprint, Bytes from, Bytes to, std::uint8_t freshness);
    std::optional<Entry> erase(Fingerprint);
    /// Erases the entry if it still is at `offset`; otherwise false.
    bool erase_at(Fingerprint, Bytes offset);
    void clear();

    struct Known {
        Fingerprint hash = 0;   // the known bits followed by zeros: usable wherever only known_bits() matter
        Entry entry;
    };
    /// Entries of records that begin at offsets from `begin` up to `end`; scans the whole index.
    std::vector<Known> within(Bytes begin, Bytes end) const;

    /// The number of entries.
    std::uint64_t size() const;
    /// Heap memory and the size of the index itself.
    Bytes metadata_bytes() const;

private:
    struct Region;
    struct Lock;
    class Probe;
    std::size_t regions() const { return std::size_t{1} << region_bits_; }
    Entry entry_of(std::uint64_t slot) const;
    std::size_t locks() const;
    Mutex& lock_of(std::size_t region) const;
    Mutex& lock_of_hash(Fingerprint hash) const { return lock_of(region_of(hash)); }
    Region& region(std::size_t number) const REQUIRES(lock_of(number));
    std::size_t region_of(Fingerprint hash) const { return hash >> (64 - region_bits_); }
    std::vector<std::uint32_t> by_region(std::span<Newcomer const> newcomers) const;

    unsigned offset_shift_;
    unsigned location_bits_;
    unsigned region_bits_;
    unsigned tag_bits_;
    std::unique_ptr<Region[]> regions_;   // see region()
    std::unique_ptr<Lock[]> locks_;
};

}   // namespace garner::store::disk
