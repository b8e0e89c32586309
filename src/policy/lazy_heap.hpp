// A heap of slots by key for policies whose keys rise on a hit: O(1) per hit, the order is repaired at eviction.
#pragma once
#include <cstddef>

#include "policy/policy.hpp"
#include "policy/slots.hpp"
#include "util/check.hpp"

namespace garner::policy {

/// Gives the slot with the lowest key; among equal keys the least recently used one. push() and raise() are uses.
/// Answers exactly what a heap that is put in order at every call would. 20 bytes a slot, for slots below 2^29.
///
/// How: raise() writes the new key in place and marks the entry risen. The heap stays in order if each risen entry is
/// read as the unknown, lower key it had before; so an entry may be compared only after settle() has sunk it.
class LazyHeap {
public:
    /// `uses`: where the count of uses begins.
    explicit LazyHeap(std::uint32_t uses = 0) : uses_(uses) {}

    bool contains(Slot slot) const { return place_.covers(slot) && place_[slot] != nowhere; }
    /// Of a slot that is contained, as are all below.
    double key(Slot slot) const { return entries_[place_of(slot)].key; }

    /// A newcomer. O(log n).
    void push(Slot, double key);

    /// Used again, with a key not lower than before. O(1).
    void raise(Slot slot, double key) {
        Entry& entry = entries_[place_of(slot)];
        check(key >= entry.key);
        entry = {key, next_use(), entry.slot, 1};
    }

    /// A key that may have moved either way; not a use. O(log n).
    void update(Slot, double key);

    void remove(Slot);

    /// The lowest, or no_slot when empty. O(log n), paid for by the raises before it.
    Slot lowest();

    Bytes metadata_bytes() const { return entries_.metadata_bytes() + place_.metadata_bytes(); }

private:
    // The root stands in place 3, so that the four children of a place share one cache line.
    using Place = std::uint32_t;
    static constexpr Place root = 3;
    static constexpr Place nowhere = 0;
    static constexpr Slot most_slots = 1u << 29;   // first_child() must not overflow
    static constexpr Place first_child(Place place) { return 4 * (place - 2); }
    static constexpr Place parent(Place place) { return place / 4 + 2; }

    struct Entry {
        double key;
        std::uint32_t used;   // when: later is higher
        Slot slot : 31;
        std::uint32_t risen : 1;
    };
    static_assert(sizeof(Entry) == 16);
    static bool below(Entry const& a, Entry const& b) { return a.key != b.key ? a.key < b.key : a.used < b.used; }

    Place place_of(Slot slot) const {
        check(contains(slot));
        return place_[slot];
    }
    std::uint32_t next_use() {
        if (uses_ == UINT32_MAX) [[unlikely]]
            renumber_uses();
        return ++uses_;
    }
    void renumber_uses();
    void put(Place place, Entry const& entry) {
        entries_[place] = entry;
        place_[entry.slot] = place;
    }
    void settle(Place);
    void sink(Place);
    void lift(Place);

    SlotArray<Entry> entries_;
    SlotArray<Place> place_;
    Place end_ = root;
    std::uint32_t uses_;
};

}  // namespace garner::policy
