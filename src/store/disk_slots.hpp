// Maps the hash of a record to its slot in a replacement policy, and back.
#pragma once
#include <cstdint>

#include "policy/policy.hpp"
#include "policy/slots.hpp"
#include "util/bytes.hpp"
#include "util/hash.hpp"

namespace garner::store::disk {

/// Allocates dense slots. Stores and returns only the first hash_bits_max bits of a hash. Every call is short,
/// because it grows by one bucket at a time (linear hashing: Litwin 1980). 8.9 bytes a record. Not thread-safe.
class SlotTable {
public:
    using Slot = policy::Slot;
    static constexpr Slot most_slots = (1u << 23) - 1;

    /// policy::no_slot when the hash is absent.
    Slot find(Fingerprint) const;
    /// The hash must be absent; returns no_slot when all most_slots are in use.
    Slot insert(Fingerprint, Bytes bytes);
    /// The slot must be in use; this holds for the next two functions, too.
    void erase(Slot);
    /// All but its first bits are 0.
    Fingerprint hash(Slot) const;
    /// Approximate: see typical_of_class().
    Bytes bytes(Slot) const;

    Slot size() const { return used_; }
    /// Its heap memory.
    Bytes metadata_bytes() const { return nodes_.metadata_bytes() + heads_.metadata_bytes(); }

private:
    // A free node has size 0; `next` links the free list.
    struct Node {
        std::uint64_t known : 36 = 0;   // the known bits of the hash
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
    policy::SlotArray<Slot, 1024> heads_;   // the buckets' chains
    std::uint32_t buckets_ = 0;
    Slot used_ = 0;
    Slot end_ = 0;   // one past the highest slot ever used
    Slot free_ = none;
};

}   // namespace garner::store::disk
