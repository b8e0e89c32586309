#include "policy/lfu.hpp"

#include "util/check.hpp"

namespace garner::policy {

Lfu::Lfu(Options const&) { levels_.cover(ground); }

void Lfu::inserted(Slot slot, Fingerprint, Bytes) {
    Place level = level_above(ground, 1);
    queues_.push(levels_[level].queue, slot);
    level_of_.cover(slot);
    level_of_[slot] = level;
}

void Lfu::hit(Slot slot, Bytes) {
    check(held(slot));
    Place const before = level_of_[slot];
    Place const after = level_above(before, levels_[before].hits + 1);
    leave(before, slot);
    queues_.push(levels_[after].queue, slot);
    level_of_[slot] = after;
}

void Lfu::resized(Slot slot, Bytes) { check(held(slot)); }

void Lfu::removed(Slot slot, Left) {
    check(held(slot));
    leave(level_of_[slot], slot);
}

Slot Lfu::victim() { return levels_[levels_[ground].higher].queue.oldest; }

bool Lfu::keeps(Slot slot) const { return held(slot) && levels_[level_of_[slot]].hits > 1; }

Bytes Lfu::metadata_bytes() const {
    return sizeof *this + queues_.metadata_bytes() + level_of_.metadata_bytes() + levels_.metadata_bytes();
}

/// The level of `hits`, which belongs right above that one; made if there is none.
Lfu::Place Lfu::level_above(Place below, std::uint64_t hits) {
    Place const above = levels_[below].higher;
    if (above != ground && levels_[above].hits == hits) return above;
    Place made = free_;
    if (made == nowhere)
        levels_.cover(made = levels_end_++);
    else
        free_ = levels_[made].higher;
    levels_[made] = {.hits = hits, .queue = {}, .lower = below, .higher = above};
    levels_[below].higher = levels_[above].lower = made;
    return made;
}

void Lfu::leave(Place place, Slot slot) {
    Level& level = levels_[place];
    queues_.remove(level.queue, slot);
    if (!level.queue.empty()) return;
    levels_[level.lower].higher = level.higher;
    levels_[level.higher].lower = level.lower;
    level.higher = free_;
    free_ = place;
}

}  // namespace garner::policy
