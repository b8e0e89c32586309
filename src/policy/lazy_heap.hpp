// A heap of slots by key for policies whose keys rise on a hit: O(1) per hit, the order is repaired at eviction.
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

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

    /// Takes the memory for slots below `slots`, at least 1, now: nothing allocates while no higher one comes.
    void reserve(Slot slots) {
        place_.cover(slots - 1);
        entries_.cover(root + slots - 1);
        edge_.reserve(slots);
    }

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

    // Instead of the time of use, a policy may keep a word of its own with each slot; then equal keys go by that word.
    // It calls these and not the two above.
    void push(Slot, double key, std::uint32_t word);
    void raise(Slot slot, double key, std::uint32_t word) {
        Entry& entry = entries_[place_of(slot)];
        check(key >= entry.key);
        entry = {key, word, entry.slot, 1};
    }
    void update(Slot slot, double key, std::uint32_t word) {
        entries_[place_of(slot)].used = word;
        update(slot, key);
    }
    std::uint32_t word(Slot slot) const { return entries_[place_of(slot)].used; }

    /// Names slots from the lowest key upwards, as visit(slot, key, word), until that returns false.
    template <class Visit>
    void ascend(Visit visit);

    /// Gives every slot the key that key_of(slot, key, word) says. O(n).
    template <class KeyOf>
    void rekey(KeyOf key_of);

    void remove(Slot);

    /// The lowest, or no_slot when empty. O(log n), paid for by the raises before it.
    Slot lowest();

    Bytes metadata_bytes() const {
        return entries_.metadata_bytes() + place_.metadata_bytes() + edge_.capacity() * sizeof(Place);
    }

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
    std::vector<Place> edge_;   // of what ascend() has visited; kept for its memory
};

template <class Visit>
void LazyHeap::ascend(Visit visit) {
    auto higher = [this](Place a, Place b) { return below(entries_[b], entries_[a]); };
    auto look_at = [&](Place place) {
        settle(place);
        edge_.push_back(place);
        std::ranges::push_heap(edge_, higher);
    };
    edge_.clear();
    if (end_ != root) look_at(root);
    while (!edge_.empty()) {
        std::ranges::pop_heap(edge_, higher);
        Place const lowest = edge_.back();
        edge_.pop_back();
        Entry const& entry = entries_[lowest];
        if (!visit(entry.slot, entry.key, entry.used)) return;
        Place const child = first_child(lowest);
        for (Place each = child; each < std::min(child + 4, end_); ++each) look_at(each);
    }
}

template <class KeyOf>
void LazyHeap::rekey(KeyOf key_of) {
    for (Place place = root; place < end_; ++place) {
        Entry& entry = entries_[place];
        entry.key = key_of(entry.slot, entry.key, entry.used);
        entry.risen = 0;
    }
    for (Place place = end_; place-- > root;) sink(place);
}

}  // namespace garner::policy
