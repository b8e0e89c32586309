// LFU: the least often used leaves.
#pragma once
#include "policy/options.hpp"
#include "policy/policy.hpp"
#include "policy/queues.hpp"

namespace garner::policy {

/// The lowest f leaves, with f the hits since insertion plus one. Ties: the least recently used leaves. Every call is
/// O(1): the slots of one f stand in one queue by use, and these in order of f (Shah, Mitra, Matani 2010). 12 bytes a
/// slot, 24 for each f that occurs.
class Lfu final : public ReplacementPolicy {
public:
    explicit Lfu(Options const&);

    void inserted(Slot, Fingerprint, Bytes size) override;
    void hit(Slot, Bytes size) override;
    void resized(Slot, Bytes size) override;
    void removed(Slot, Left) override;
    Slot victim() override;
    /// True when it was used since it came.
    bool keeps(Slot) const override;
    Bytes metadata_bytes() const override;

private:
    using Place = std::uint32_t;              // of a level
    static constexpr Place ground = 0;        // below all levels, and above: they form a ring
    static constexpr Place nowhere = UINT32_MAX;
    struct Level {
        std::uint64_t hits = 0;
        Queue queue;                          // never empty, but for the ground's
        Place lower = ground, higher = ground;
    };
    static_assert(sizeof(Level) == 24);

    bool held(Slot slot) const { return queues_.contains(slot); }
    Place level_above(Place, std::uint64_t hits);
    void leave(Place, Slot);

    Queues queues_;
    SlotArray<Place> level_of_;
    SlotArray<Level> levels_;
    Place levels_end_ = ground + 1;
    Place free_ = nowhere;                    // levels not in use, linked by `higher`
};

}  // namespace garner::policy
