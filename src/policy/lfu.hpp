// LFU: evicts the least frequently used object.
#pragma once
#include "policy/options.hpp"
#include "policy/policy.hpp"
#include "policy/queues.hpp"
#include "util/check.hpp"

namespace garner::policy {

/// Evicts the lowest f, the hits since insertion plus one. Ties: the least recently used. Every call is O(1): slots
/// of equal f are in one queue in order of use, and the queues are in order of f (Shah, Mitra, Matani 2010). 12 bytes
/// a slot, 24 for each f that occurs.
class Lfu final : public ReplacementPolicy {
public:
    explicit Lfu(Options const&) { levels_.cover(ground); }

    void inserted(Slot slot, Fingerprint, Bytes) override {
        level_of_.cover(slot);
        enter(level_above(ground, 1), slot);
    }
    void hit(Slot slot, Bytes) override {
        check(held(slot));
        Level const before = level_of_[slot];
        Level const after = level_above(before, levels_[before].hits + 1);
        leave(before, slot);
        enter(after, slot);
    }
    void resized(Slot slot, Bytes) override { check(held(slot)); }
    void removed(Slot slot, Left) override {
        check(held(slot));
        leave(level_of_[slot], slot);
    }
    Slot victim() override { return levels_[levels_[ground].higher].queue.oldest; }
    /// True when it was used since its insertion.
    bool keeps(Slot slot) const override { return held(slot) && levels_[level_of_[slot]].hits > 1; }
    Bytes metadata_bytes() const override {
        return sizeof *this + queues_.metadata_bytes() + level_of_.metadata_bytes() + levels_.metadata_bytes();
    }

private:
    using Level = std::uint32_t;         // its index in levels_
    static constexpr Level ground = 0;   // sentinel of the ring of levels
    static constexpr Level nowhere = UINT32_MAX;
    struct Content {
        std::uint64_t hits = 0;
        Queue queue;   // never empty, except the sentinel's
        Level lower = ground, higher = ground;
    };
    static_assert(sizeof(Content) == 24);

    bool held(Slot slot) const { return queues_.contains(slot); }
    /// The level of `hits`, directly above `below`; created if missing.
    Level level_above(Level below, std::uint64_t hits) {
        Level const above = levels_[below].higher;
        if (above != ground && levels_[above].hits == hits) return above;
        Level made = free_;
        if (made == nowhere)
            levels_.cover(made = levels_end_++);
        else
            free_ = levels_[made].higher;
        levels_[made] = {.hits = hits, .queue = {}, .lower = below, .higher = above};
        levels_[below].higher = levels_[above].lower = made;
        return made;
    }
    void enter(Level level, Slot slot) {
        queues_.push(levels_[level].queue, slot);
        level_of_[slot] = level;
    }
    void leave(Level level, Slot slot) {
        auto& left = levels_[level];
        queues_.remove(left.queue, slot);
        if (!left.queue.empty()) return;
        levels_[left.lower].higher = left.higher;
        levels_[left.higher].lower = left.lower;
        left.higher = free_;
        free_ = level;
    }

    Queues queues_;
    SlotArray<Level> level_of_;
    SlotArray<Content> levels_;
    Level levels_end_ = ground + 1;
    Level free_ = nowhere;   // unused levels, linked by `higher`
};

}   // namespace garner::policy
