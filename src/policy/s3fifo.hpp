// S3-FIFO: a small queue filters out what is used once, before it takes room in the main one.
#pragma once
#include <array>

#include "policy/ghost.hpp"
#include "policy/options.hpp"
#include "policy/policy.hpp"
#include "policy/queues.hpp"
#include "policy/sizes.hpp"

namespace garner::policy {

/// Three FIFO queues (Yang et al., SOSP 2023). Newcomers enter the small one, or the main one if the ghost remembers
/// them. While the small one has its share of the capacity, in bytes, its oldest is looked at: used more than once, it
/// goes to main, its uses forgotten; else it leaves and the ghost remembers it, as many as there are objects in main (of a
/// lean one three quarters). Otherwise main's oldest: it leaves if it has no uses, else it loses one and is the newest
/// again. Uses count up to 3.
///
/// While the capacity is unknown, what is held is taken for it. A hit is O(1) and writes one word; victim() pays one
/// step for each use it takes away. 16 bytes a slot and at most 8 for the ghost, of a lean one 14 and 6. An object counts
/// for 4 GiB at most.
class S3Fifo final : public ReplacementPolicy {
public:
    static constexpr std::array settings{
        Setting{.name = "small", .what = "share of the capacity for newcomers", .initial = 0.1, .most = 1},
    };

    explicit S3Fifo(Options const&);

    void inserted(Slot, Fingerprint, Bytes size) override;
    void hit(Slot, Bytes size) override;
    /// Not a use.
    void resized(Slot, Bytes size) override;
    /// Left::evicted from the small queue is what the ghost remembers.
    void removed(Slot, Left) override;
    Slot victim() override;
    /// True in the main queue, and for what would go there.
    bool keeps(Slot) const override;
    void set_capacity(Bytes capacity) override { capacity_ = capacity; }
    Bytes metadata_bytes() const override;

private:
    enum Place : std::uint32_t { nowhere, small, main };
    struct Item {
        Ghost::Tag tag : Ghost::tag_bits;
        std::uint32_t place : 2;
        std::uint32_t uses : 2;
    };
    static_assert(sizeof(Item) == 4);
    static constexpr std::uint32_t most_uses = 3;
    struct Line {
        Queue queue;
        Bytes bytes = 0;
        std::uint64_t objects = 0;
    };

    bool held(Slot slot) const { return items_.covers(slot) && items_[slot].place != nowhere; }
    bool small_is_full() const;
    void put(Place, Slot);
    void take(Slot);

    double share_;
    Bytes capacity_;
    Queues queues_;
    SlotArray<Item> items_;
    Sizes sizes_;
    std::array<Line, 3> lines_;   // by place
    Ghost ghost_;
    bool const lean_;
};

}  // namespace garner::policy
