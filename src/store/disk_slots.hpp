// From the hash of a record to the slot under which a replacement policy knows it, and back.
#pragma once
#include <cstdint>

#include "policy/policy.hpp"
#include "policy/slots.hpp"
#include "util/bytes.hpp"
#include "util/hash.hpp"

namespace garner::store::disk {

/// Hands out dense slots. Knows a hash by its first hash_bits_max bits of the Index, and gives back these. No call takes
/// long: it grows by one bucket at a time (linear hashing: Litwin 1980). 8.9 bytes a record. Not thread-safe.
class SlotTable {
public:
    using Slot = policy::Slot;
    static constexpr Slot most_slots = (1u << 23) - 1;

    /// Or policy::no_slot.
    Slot find(Fingerprint) const;
    /// For a hash that is not there; no_slot when there are most_slots.
    Slot insert(Fingerprint, Bytes bytes);
    /// For a slot that is held, as the next two.
    void erase(Slot);
    /// All but its first bits are 0.
    Fingerprint hash(Slot) const;
    /// About: see typical_of_class().
    Bytes bytes(Slot) const;

    Slot size() const { return used_; }
    /// What it has taken from the heap.
    Bytes metadata_bytes() const { return nodes_.metadata_bytes() + heads_.metadata_bytes(); }

private:
    // A free one has size 0, and `next` says which is free after it.
    struct Node {
        std::uint64_t known : 36 = 0;   // the bits of the hash
        std::uint64_t next : 23 = 0;
        std::uint64_t size : 5 = 0;
    };
    static_assert(sizeof(Node) == sizeof(std::uint64_t));
    static constexpr Slot none = most_slots;
    static constexpr unsigned load = 5;   // records for each bucket

    static std::uint64_t known(Fingerprint hash) { return hash >> 28; }
    std::uint32_t bucket(std::uint64_t known) const;
    void add_bucket();
    void link(Slot);
    void unlink(Slot);
    Slot take_slot();

    policy::SlotArray<Node, 512> nodes_;
    policy::SlotArray<Slot, 1024> heads_;   // of the buckets' chains
    std::uint32_t buckets_ = 0;
    Slot used_ = 0;
    Slot end_ = 0;                           // of those handed out ever
    Slot free_ = none;
};

}  // namespace garner::store::disk
