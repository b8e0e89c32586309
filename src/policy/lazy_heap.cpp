#include "policy/lazy_heap.hpp"

#include <algorithm>

namespace garner::policy {

void LazyHeap::push(Slot slot, double key) { push(slot, key, next_use()); }

void LazyHeap::push(Slot slot, double key, std::uint32_t word) {
    check(slot < most_slots && !contains(slot));
    place_.cover(slot);
    entries_.cover(end_);
    put(end_, {key, word, slot, 0});
    lift(end_++);
}

void LazyHeap::update(Slot slot, double key) {
    Place place = place_of(slot);
    entries_[place].key = key;
    entries_[place].risen = 0;
    sink(place);
    lift(place);
}

void LazyHeap::remove(Slot slot) {
    Place hole = place_of(slot);
    place_[slot] = nowhere;
    if (hole == --end_) return;
    Entry last = entries_[end_];
    last.risen = 0;
    put(hole, last);
    sink(hole);
    lift(hole);
}

Slot LazyHeap::lowest() {
    if (end_ == root) return no_slot;
    settle(root);
    return entries_[root].slot;
}

/// Afterwards the entry in this place has not risen and is the lowest of its subtree.
void LazyHeap::settle(Place place) {
    if (!entries_[place].risen) return;
    entries_[place].risen = 0;
    sink(place);
}

/// Lets an entry whose key is true fall to where it belongs, settling the children it meets.
void LazyHeap::sink(Place place) {
    Entry const entry = entries_[place];
    Place const start = place;
    for (Place child = first_child(place); child < end_; child = first_child(place)) {
        Place const past = std::min(child + 4, end_);
        Place lowest = child;
        for (Place each = child; each < past; ++each) {
            settle(each);
            if (below(entries_[each], entries_[lowest])) lowest = each;
        }
        if (!below(entries_[lowest], entry)) break;
        put(place, entries_[lowest]);
        place = lowest;
    }
    if (place != start) put(place, entry);
}

/// Lets the entry in this place, whose key is true, rise above its parents. A parent that has risen itself is sunk
/// first: then the lowest of its children, perhaps another than ours, stands in its place and goes on.
void LazyHeap::lift(Place place) {
    for (; place != root; place = parent(place)) {
        Place const above = parent(place);
        if (entries_[above].risen) {
            settle(above);
            continue;
        }
        if (!below(entries_[place], entries_[above])) return;
        Entry const lifted = entries_[place];
        put(place, entries_[above]);
        put(above, lifted);
    }
}

/// The count of uses is at its end, after four thousand million: the held ones are numbered anew, in the same order.
void LazyHeap::renumber_uses() {
    std::vector<Place> order;
    for (Place place = root; place < end_; ++place) order.push_back(place);
    std::ranges::sort(order, {}, [&](Place place) { return entries_[place].used; });
    uses_ = 0;
    for (Place place : order) entries_[place].used = ++uses_;
}

}  // namespace garner::policy
