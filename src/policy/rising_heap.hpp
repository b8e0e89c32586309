// A heap of slots for policies whose keys rise on a hit: O(1) per hit, with lazy reordering at eviction.
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

#include "policy/policy.hpp"
#include "policy/slots.hpp"
#include "util/check.hpp"

namespace garner::policy {

/// Returns the slot with the lowest entry. `Entry` has below(other), the order; `slot`, for slots below 2^29; and
/// `risen`, which the heap uses: an entry is pushed with 0. An entry and 4 bytes a slot.
///
/// raise() lets the caller write a higher key in place and marks the entry as risen. The heap order is valid if each
/// risen entry counts with its unknown old key; so an entry may be compared only after settle() has sunk it.
template <class Entry>
class RisingHeap {
public:
    /// Allocates memory for slots below `slots`, at least 1: nothing is allocated later unless a higher slot is used.
    void reserve(Slot slots) {
        index_.cover(slots - 1);
        entries_.cover(root + slots - 1);
        edge_.reserve(slots);
    }

    bool contains(Slot slot) const { return index_.covers(slot) && index_[slot] != nowhere; }
    /// The slot must be contained; this holds for all functions below, too.
    Entry const& entry(Slot slot) const { return entries_[index_of(slot)]; }

    /// O(log n).
    void push(Entry const& entry) {
        check(entry.slot < most_slots && !contains(entry.slot));
        index_.cover(entry.slot);
        entries_.cover(end_);
        put(end_, entry);
        lift(end_++);
    }

    /// The caller must set a key that is not lower. O(1).
    Entry& raise(Slot slot) {
        Entry& entry = entries_[index_of(slot)];
        entry.risen = 1;
        return entry;
    }

    /// Changes a key by change(entry), lower or higher. O(log n).
    template <class Change>
    void update(Slot slot, Change change) {
        Index index = index_of(slot);
        change(entries_[index]);
        entries_[index].risen = 0;
        sink(index);
        lift(index);
    }

    void remove(Slot slot) {
        Index hole = index_of(slot);
        index_[slot] = nowhere;
        if (hole == --end_) return;
        Entry last = entries_[end_];
        last.risen = 0;
        put(hole, last);
        sink(hole);
        lift(hole);
    }

    /// The lowest, or no_slot when empty. Amortised O(log n), including deferred work of raise().
    Slot lowest() {
        if (end_ == root) return no_slot;
        settle(root);
        return entries_[root].slot;
    }

    /// Visits entries in ascending order with visit(entry), until it returns false.
    template <class Visit>
    void ascend(Visit visit) {
        if (end_ == root) return;
        auto higher = [this](Index a, Index b) { return entries_[b].below(entries_[a]); };
        edge_.clear();
        settle(root);
        for (Index lowest = root; visit(entries_[lowest]);) {
            Index const child = first_child(lowest);
            for (Index each = child; each < std::min(child + 4, end_); ++each) {
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

    /// Calls change(entry) for every entry, unordered. O(n).
    template <class Change>
    void change_all(Change change) {
        for (Index index = root; index < end_; ++index) {
            change(entries_[index]);
            entries_[index].risen = 0;
        }
        for (Index index = end_; index-- > root;) sink(index);
    }

    Bytes metadata_bytes() const { return entries_.metadata_bytes() + index_.metadata_bytes() + edge_.capacity() * sizeof(Index); }

private:
    // The root has index 3, so that the four children of a place share one cache line.
    using Index = std::uint32_t;
    static constexpr Index root = 3;
    static constexpr Index nowhere = 0;
    static constexpr Slot most_slots = 1u << 29;   // first_child() must not overflow
    static constexpr Index first_child(Index index) { return 4 * (index - 2); }
    static constexpr Index parent(Index index) { return index / 4 + 2; }

    Index index_of(Slot slot) const {
        check(contains(slot));
        return index_[slot];
    }
    void put(Index index, Entry const& entry) {
        entries_[index] = entry;
        index_[entry.slot] = index;
    }
    /// Afterwards the entry at this index has not risen and is the lowest of its subtree.
    void settle(Index index) {
        if (!entries_[index].risen) return;
        entries_[index].risen = 0;
        sink(index);
    }
    /// Sinks an entry with a true key to its place, settling the children it meets.
    void sink(Index index) {
        Entry const entry = entries_[index];
        Index const start = index;
        for (Index child = first_child(index); child < end_; child = first_child(index)) {
            settle_children(child);
            Index const lowest = lowest_child(child);
            if (!entries_[lowest].below(entry)) break;
            put(index, entries_[lowest]);
            index = lowest;
        }
        if (index != start) put(index, entry);
    }
    /// Lifts the entry at this index, whose key is true, above its parents. A risen parent is sunk first: then the
    /// lowest of its children, perhaps another entry, takes its index and is lifted further.
    void lift(Index index) {
        for (; index != root; index = parent(index)) {
            Index const above = parent(index);
            if (entries_[above].risen) {
                settle(above);
                continue;
            }
            if (!entries_[index].below(entries_[above])) return;
            Entry const lifted = entries_[index];
            put(index, entries_[above]);
            put(above, lifted);
        }
    }
    void settle_children(Index first) {
        Entry const* four = &entries_[first];   // in one chunk, as its items are a multiple of four
        if (!(four[0].risen | four[1].risen | four[2].risen | four[3].risen)) return;
        for (Index each = first; each < std::min(first + 4, end_); ++each) settle(each);
    }
    Index lowest_child(Index first) const {
        Entry const* four = &entries_[first];
        if (first + 4 > end_) {
            Index lowest = first;
            for (Index each = first + 1; each < end_; ++each)
                if (entries_[each].below(entries_[lowest])) lowest = each;
            return lowest;
        }
        // The lowest of four is unpredictable: a branch-free tournament.
        Index const one = four[1].below(four[0]), other = 2 + four[3].below(four[2]);
        return first + (four[other].below(four[one]) ? other : one);
    }

    SlotArray<Entry> entries_;
    SlotArray<Index> index_;
    Index end_ = root;
    std::vector<Index> edge_;   // work space of ascend(); kept for its memory
};

}   // namespace garner::policy
