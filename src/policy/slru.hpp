// SLRU, segmented LRU: a second use protects from what is used only once.
#pragma once
#include <array>

#include "policy/options.hpp"
#include "policy/policy.hpp"
#include "policy/queues.hpp"

namespace garner::policy {

/// Newcomers are on probation; a hit makes the newest of the protected. While these take more than their share of the
/// capacity, in bytes, the least recently used of them goes back to the newest end of probation. The least recently
/// used on probation leaves, and a protected one only when there is none (Karedla, Love, Wherry 1994). While the
/// capacity is unknown, what is held is taken for it. Every call is O(1), a hit but for those it sends back, each of
/// which was protected by a hit before. 12 bytes a slot. An object counts for 2 GiB at most.
class Slru final : public ReplacementPolicy {
public:
    static constexpr std::array settings{
        Setting{.name = "protected", .what = "share of the capacity for the used again", .initial = 0.8, .most = 1},
    };

    explicit Slru(Options const&);

    void inserted(Slot, Fingerprint, Bytes size) override;
    void hit(Slot, Bytes size) override;
    /// Not a use.
    void resized(Slot, Bytes size) override;
    void removed(Slot, Left) override;
    Slot victim() override;
    /// True while it is protected.
    bool keeps(Slot) const override;
    void set_capacity(Bytes capacity) override { capacity_ = capacity; }
    Bytes metadata_bytes() const override;

private:
    struct Item {
        std::uint32_t size : 31;
        std::uint32_t is_protected : 1;
    };
    struct Segment {
        Queue queue;
        Bytes bytes = 0;
    };

    Segment& segment_of(Slot slot) { return items_[slot].is_protected ? protected_ : probation_; }
    void put(Segment&, Slot);
    void take(Slot);
    void count_size(Slot, Bytes);
    void send_back();

    double share_;
    Bytes capacity_;
    Queues queues_;
    SlotArray<Item> items_;
    Segment probation_, protected_;
};

}  // namespace garner::policy
