#include "policy/lru.hpp"

#include "util/check.hpp"

namespace garner::policy {

Lru::Lru(Options const&) {
    ring_.cover(root);
    ring_[root] = {root, root};
}

void Lru::inserted(Slot slot, Fingerprint, Bytes) {
    check(slot != no_slot && !held(slot));
    ring_.cover(std::size_t{slot} + 1);
    link_newest(slot + 1);
}

void Lru::hit(Slot slot, Bytes) {
    check(held(slot));
    unlink(slot + 1);
    link_newest(slot + 1);
}

void Lru::resized(Slot slot, Bytes) { check(held(slot)); }

void Lru::removed(Slot slot, Left) {
    check(held(slot));
    unlink(slot + 1);
    ring_[slot + 1] = {};
}

Slot Lru::victim() {
    Place oldest = ring_[root].newer;
    return oldest == root ? no_slot : oldest - 1;
}

bool Lru::keeps(Slot slot) const { return held(slot); }

Bytes Lru::metadata_bytes() const { return sizeof *this + ring_.metadata_bytes(); }

bool Lru::held(Slot slot) const {
    auto place = std::size_t{slot} + 1;
    return ring_.covers(place) && ring_[place].newer != nowhere;
}

void Lru::link_newest(Place place) {
    Place newest = ring_[root].older;
    ring_[place] = {.older = newest, .newer = root};
    ring_[newest].newer = place;
    ring_[root].older = place;
}

void Lru::unlink(Place place) {
    auto [older, newer] = ring_[place];
    ring_[older].newer = newer;
    ring_[newer].older = older;
}

}  // namespace garner::policy
