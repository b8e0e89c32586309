// Where on disk each record lies: ten bytes of memory for each, by hash alone.
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

/// Thread-safe: a lock is held for one probe, or while a few thousand entries move to a larger array. Knows a record by
/// the first 32 to 36 bits of its hash: two with the same bits take each other's place, and whoever reads the record
/// compares its key. Never refuses a newcomer. Takes 9 to 10 bytes an entry once there are a million, and keeps them until
/// clear().
class Index {
public:
    /// What an entry says. `bytes` is rounded up: see disk_sizes.hpp.
    struct Entry {
        Bytes offset = 0;              // in the file
        Bytes bytes = 0;
        std::uint8_t freshness = 0;    // 0 to 7, as given
        std::uint8_t uses = 0;         // 0 to 3; more are not counted
        friend bool operator==(Entry const&, Entry const&) = default;
    };
    /// Records have 1 to so many bytes, in multiples of 16.
    static constexpr Bytes record_max = disk::record_max;
    /// The hash may be cut to its first so many bits: the rest is never looked at.
    static constexpr unsigned hash_bits_max = 36;

    /// For a file of that size. Offsets are multiples of the alignment, which has a store_max() of no less.
    Index(Bytes store_bytes, Bytes alignment);
    explicit Index(Bytes store_bytes) : Index(store_bytes, alignment(store_bytes)) {}
    ~Index();
    /// What it knows of a hash: two with the same bits take each other's place.
    Fingerprint known_bits(Fingerprint hash) const { return hash >> (64 - region_bits_ - tag_bits_); }
    /// 16 up to 256 GiB, then more, always a power of two.
    static Bytes alignment(Bytes store_bytes);
    /// The largest file in which offsets of that alignment can be told apart.
    static Bytes store_max(Bytes alignment);

    /// About so many entries are to come: regions without any make room for them at once, instead of a tenth at a time.
    void reserve(std::uint64_t entries);

    std::optional<Entry> find(Fingerprint) const;
    /// The same, and counts a use, which is in the answer.
    std::optional<Entry> use(Fingerprint);

    /// Puts an entry in the place of the one with its hash, if any; that one is returned. Its uses begin at 0.
    std::optional<Entry> put(Fingerprint, Bytes offset, Bytes bytes, std::uint8_t freshness);
    struct Newcomer {
        Fingerprint hash = 0;
        Bytes offset = 0;
        Bytes bytes = 0;
        std::uint8_t freshness = 0;
    };
    /// Each only where there is none, the earlier of two with one hash; says for each whether it was put. Takes a third of
    /// the time that as many calls of put() do: the places of those that come next are fetched meanwhile.
    std::vector<bool> put_absent(std::span<Newcomer const> newcomers);
    /// The record was copied: only where the entry still stands at `from`; its uses are halved. False else.
    bool move(Fingerprint, Bytes from, Bytes to, std::uint8_t freshness);
    std::optional<Entry> erase(Fingerprint);
    /// Only where the entry still stands at `offset`; false else.
    bool erase_at(Fingerprint, Bytes offset);
    void clear();

    struct Known {
        Fingerprint hash = 0;   // what it knows of it, and zeros: it stands for the whole wherever known_bits() are asked for
        Entry entry;
    };
    /// Entries for records that begin at offsets from `begin` up to `end`; looks at every entry there is.
    std::vector<Known> within(Bytes begin, Bytes end) const;

    /// Entries.
    std::uint64_t size() const;
    /// What it has taken from the heap, and itself.
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

}  // namespace garner::store::disk
