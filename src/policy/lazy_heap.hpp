// A RisingHeap by keys of any value, exact to the last tie.
#pragma once
#include "policy/rising_heap.hpp"

namespace garner::policy {

/// Gives the slot with the lowest key; among equal keys the least recently used one. push() and raise() are uses.
/// Answers exactly what a heap that is put in order at every call would. 20 bytes a slot, for slots below 2^29.
class LazyHeap {
public:
    /// `uses`: where the count of uses begins.
    explicit LazyHeap(std::uint32_t uses = 0) : uses_(uses) {}

    bool contains(Slot slot) const { return heap_.contains(slot); }
    /// Of a slot that is contained, as are all below.
    double key(Slot slot) const { return heap_.entry(slot).key; }

    /// A newcomer. O(log n).
    void push(Slot slot, double key) { heap_.push({key, next_use(), slot, 0}); }

    /// Used again, with a key not lower than before. O(1).
    void raise(Slot slot, double key) {
        auto use = next_use();
        Entry& entry = heap_.raise(slot);
        check(key >= entry.key);
        entry.key = key;
        entry.used = use;
    }

    /// A key that may have moved either way; not a use. O(log n).
    void update(Slot slot, double key) {
        heap_.update(slot, [key](Entry& entry) { entry.key = key; });
    }

    void remove(Slot slot) { heap_.remove(slot); }

    /// The lowest, or no_slot when empty. O(log n), paid for by the raises before it.
    Slot lowest() { return heap_.lowest(); }

    Bytes metadata_bytes() const { return heap_.metadata_bytes(); }

private:
    struct Entry {
        double key;
        std::uint32_t used;   // when: later is higher
        Slot slot : 31;
        std::uint32_t risen : 1;
        bool below(Entry const& other) const { return key != other.key ? key < other.key : used < other.used; }
    };
    static_assert(sizeof(Entry) == 16);

    std::uint32_t next_use() {
        if (uses_ == UINT32_MAX) [[unlikely]]
            renumber_uses();
        return ++uses_;
    }
    void renumber_uses();

    RisingHeap<Entry> heap_;
    std::uint32_t uses_;
};

}  // namespace garner::policy
