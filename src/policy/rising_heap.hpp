// A heap of slots by key for policies whose keys rise on a hit: O(1) per hit, the order is repaired at eviction.
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

#include "policy/policy.hpp"
#include "policy/slots.hpp"
#include "util/check.hpp"

namespace garner::policy {

/// Gives the slot whose entry is the lowest. `Entry` has below(other), the order; `slot`, for slots below 2^29; and
/// `risen`, which is the heap's own: an entry is pushed with 0. An entry and 4 bytes a slot.
///
/// How: raise() lets the caller write a higher key in place and marks the entry risen. The heap stays in order if each
/// risen entry is read as the unknown, lower key it had before; so an entry may be compared only after settle() has
/// sunk it.
template <class Entry>
class RisingHeap {
public:
    /// Takes the memory for slots below `slots`, at least 1, now: nothing allocates while no higher one comes.
    void reserve(Slot slots) {
        place_.cover(slots - 1);
        entries_.cover(root + slots - 1);
        edge_.reserve(slots);
    }

    bool contains(Slot slot) const { return place_.covers(slot) && place_[slot] != nowhere; }
    /// Of a slot that is contained, as are all below.
    Entry const& entry(Slot slot) const { return entries_[place_of(slot)]; }

    /// O(log n).
    void push(Entry const&);

    /// To be given a key that is not lower. O(1).
    Entry& raise(Slot slot) {
        Entry& entry = entries_[place_of(slot)];
        entry.risen = 1;
        return entry;
    }

    /// Another key, as change(entry) makes it, lower or higher. O(log n).
    template <class Change>
    void update(Slot, Change change);

    void remove(Slot);

    /// The lowest, or no_slot when empty. O(log n), paid for by the raises before it.
    Slot lowest() {
        if (end_ == root) return no_slot;
        settle(root);
        return entries_[root].slot;
    }

    /// Names entries from the lowest upwards, as visit(entry), until that returns false.
    template <class Visit>
    void ascend(Visit visit);

    /// Every entry, as change(entry) makes it, in no order. O(n).
    template <class Change>
    void change_all(Change change);

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

    Place place_of(Slot slot) const {
        check(contains(slot));
        return place_[slot];
    }
    void put(Place place, Entry const& entry) {
        entries_[place] = entry;
        place_[entry.slot] = place;
    }
    void settle(Place);
    void sink(Place);
    void lift(Place);
    void settle_children(Place first);
    Place lowest_child(Place first) const;

    SlotArray<Entry> entries_;
    SlotArray<Place> place_;
    Place end_ = root;
    std::vector<Place> edge_;   // of what ascend() has visited; kept for its memory
};

template <class Entry>
void RisingHeap<Entry>::push(Entry const& entry) {
    check(entry.slot < most_slots && !contains(entry.slot));
    place_.cover(entry.slot);
    entries_.cover(end_);
    put(end_, entry);
    lift(end_++);
}

template <class Entry>
template <class Change>
void RisingHeap<Entry>::update(Slot slot, Change change) {
    Place place = place_of(slot);
    change(entries_[place]);
    entries_[place].risen = 0;
    sink(place);
    lift(place);
}

template <class Entry>
void RisingHeap<Entry>::remove(Slot slot) {
    Place hole = place_of(slot);
    place_[slot] = nowhere;
    if (hole == --end_) return;
    Entry last = entries_[end_];
    last.risen = 0;
    put(hole, last);
    sink(hole);
    lift(hole);
}

template <class Entry>
template <class Visit>
void RisingHeap<Entry>::ascend(Visit visit) {
    if (end_ == root) return;
    auto higher = [this](Place a, Place b) { return entries_[b].below(entries_[a]); };
    edge_.clear();
    settle(root);
    for (Place lowest = root; visit(entries_[lowest]);) {
        Place const child = first_child(lowest);
        for (Place each = child; each < std::min(child + 4, end_); ++each) {
            settle(each);
            edge_.push_back(each);
            std::ranges::push_heap(edge_, higher);
        }
        if (edge_.empty()) return;
        std::ranges::pop_heap(edge_, higher);
        lowest = edge_.back();
        edge_.pop_back();
    }
}

template <class Entry>
template <class Change>
void RisingHeap<Entry>::change_all(Change change) {
    for (Place place = root; place < end_; ++place) {
        change(entries_[place]);
        entries_[place].risen = 0;
    }
    for (Place place = end_; place-- > root;) sink(place);
}

/// Afterwards the entry in this place has not risen and is the lowest of its subtree.
template <class Entry>
void RisingHeap<Entry>::settle(Place place) {
    if (!entries_[place].risen) return;
    entries_[place].risen = 0;
    sink(place);
}

/// Lets an entry whose key is true fall to where it belongs, settling the children it meets.
template <class Entry>
void RisingHeap<Entry>::sink(Place place) {
    Entry const entry = entries_[place];
    Place const start = place;
    for (Place child = first_child(place); child < end_; child = first_child(place)) {
        settle_children(child);
        Place const lowest = lowest_child(child);
        if (!entries_[lowest].below(entry)) break;
        put(place, entries_[lowest]);
        place = lowest;
    }
    if (place != start) put(place, entry);
}

template <class Entry>
void RisingHeap<Entry>::settle_children(Place first) {
    Entry const* four = &entries_[first];   // in one chunk, as its items are a multiple of four
    if (!(four[0].risen | four[1].risen | four[2].risen | four[3].risen)) return;
    for (Place each = first; each < std::min(first + 4, end_); ++each) settle(each);
}

template <class Entry>
RisingHeap<Entry>::Place RisingHeap<Entry>::lowest_child(Place first) const {
    Entry const* four = &entries_[first];
    if (first + 4 > end_) {
        Place lowest = first;
        for (Place each = first + 1; each < end_; ++each)
            if (entries_[each].below(entries_[lowest])) lowest = each;
        return lowest;
    }
    // Which of four is the lowest nobody can foretell: a tournament needs no branch.
    Place const one = four[1].below(four[0]), other = 2 + four[3].below(four[2]);
    return first + (four[other].below(four[one]) ? other : one);
}

/// Lets the entry in this place, whose key is true, rise above its parents. A parent that has risen itself is sunk
/// first: then the lowest of its children, perhaps another than ours, stands in its place and goes on.
template <class Entry>
void RisingHeap<Entry>::lift(Place place) {
    for (; place != root; place = parent(place)) {
        Place const above = parent(place);
        if (entries_[above].risen) {
            settle(above);
            continue;
        }
        if (!entries_[place].below(entries_[above])) return;
        Entry const lifted = entries_[place];
        put(place, entries_[above]);
        put(above, lifted);
    }
}

}  // namespace garner::policy
