// W-TinyLFU, aware of sizes: a window for newcomers, and a main part that takes only what is asked for more often than
// all that it would push out.
#pragma once
#include <array>

#include "policy/options.hpp"
#include "policy/policy.hpp"
#include "policy/queues.hpp"
#include "policy/sizes.hpp"
#include "policy/sketch.hpp"

namespace garner::policy {

/// A window by LRU of a share of the capacity, in bytes, before a main part by segmented LRU, 80 % of it protected
/// (Einziger, Friedman, Manes 2017). What a newcomer pushes out of the window while main has no room is the next
/// candidate: its estimate must be above the sum of the estimates of as many of main's next victims as make room for it,
/// else it is the one that leaves (aggregated victims: Einziger, Eytan, Friedman, Manes 2021). A newcomer larger than
/// the window is a candidate at once: admits() judges it by the bytes it needs, and it comes into main.
///
/// victim() makes room for the newcomer that admits() was last asked about, until that is inserted.
/// While the capacity is unknown, what is held is taken for it. A hit is O(1); victim() and admits() look at as many
/// objects as would have to leave. 16 bytes a slot and 4 to 8 for the sketch, of a lean one 14 and 3 to 6. An object counts for 4 GiB at most.
class WTinyLfu final : public ReplacementPolicy {
public:
    static constexpr std::array settings{
        Setting{.name = "window", .what = "share of the capacity for newcomers", .initial = 0.01, .most = 1},
    };

    explicit WTinyLfu(Options const&);

    void requested(Fingerprint) override;
    bool admits(Fingerprint, Bytes size, Bytes need) override;
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
    static constexpr std::uint32_t tag_bits = 30;
    static Sketch::Tag tag(Fingerprint fingerprint) { return Sketch::tag(fingerprint) & ((1u << tag_bits) - 1); }

    enum Place : std::uint32_t { nowhere, window, probation, guarded };
    struct Item {
        Sketch::Tag tag : tag_bits;
        std::uint32_t place : 2;
    };
    static_assert(sizeof(Item) == 4);
    struct Segment {
        Queue queue;
        Bytes bytes = 0;
    };

    bool held(Slot slot) const { return items_.covers(slot) && items_[slot].place != nowhere; }
    Bytes main_bytes() const { return segments_[probation].bytes + segments_[guarded].bytes; }
    Bytes capacity() const { return capacity_ ? capacity_ : segments_[window].bytes + main_bytes(); }
    Bytes window_most() const { return static_cast<Bytes>(share_ * static_cast<double>(capacity())); }
    bool fits_window(Bytes newcomer) const { return segments_[window].bytes + newcomer <= window_most(); }
    bool outweighs(Sketch::Tag, Bytes room) const;
    void fill_main();
    void send_back();
    void put(Place, Slot);
    void take(Slot);
    void move(Slot, Place);

    double share_;
    Bytes capacity_;
    Queues queues_;
    SlotArray<Item> items_;
    Sizes sizes_;
    std::array<Segment, 4> segments_;   // by place
    std::uint64_t objects_ = 0;
    Bytes expected_ = 0;                // of the newcomer to the window
    Sketch sketch_;
};

}  // namespace garner::policy
