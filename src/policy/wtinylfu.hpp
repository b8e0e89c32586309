// W-TinyLFU, size-aware: a window for newcomers, and a main part that admits only objects requested more often than
// all their victims together.
#pragma once
#include <array>

#include "policy/options.hpp"
#include "policy/policy.hpp"
#include "policy/queues.hpp"
#include "policy/sizes.hpp"
#include "policy/sketch.hpp"
#include "util/check.hpp"

namespace garner::policy {

/// An LRU window with a share of the capacity, in bytes, in front of a main part with segmented LRU, 80 % of it
/// protected (Einziger, Friedman, Manes 2017). An object evicted from the window while main is full is a candidate
/// for main. Its estimate must exceed the sum of the estimates of the victims that main needs to make room, otherwise
/// it is evicted itself (aggregated victims: Einziger, Eytan, Friedman, Manes 2021). A newcomer larger than the
/// window is a candidate at once: admits() judges it by the bytes it needs, and it enters main.
///
/// victim() makes room for the newcomer last passed to admits(), until that is inserted. While the capacity is
/// unknown, the bytes held are used instead. A hit is O(1); victim() and admits() look at as many objects as would be
/// evicted. 16 bytes a slot and 4 to 8 for the sketch, of a lean one 14 and 3 to 6. An object counts for 4 GiB at
/// most.
class WTinyLfu final : public ReplacementPolicy {
public:
    static constexpr std::array settings{
        Setting{.name = "window", .what = "share of the capacity for the window of new objects", .initial = 0.01, .most = 1},
    };

    explicit WTinyLfu(Options const& options)
        : share_(options.value(settings, 0)), capacity_(options.capacity), sizes_(options.lean),
          sketch_({.counters = options.lean ? 6u : 8u, .sample = 10}) {}

    void requested(Fingerprint fingerprint) override { sketch_.add(tag(fingerprint)); }
    bool admits(Fingerprint fingerprint, Bytes size, Bytes need) override {
        bool const small = size <= window_most();
        expected_ = small ? size : 0;
        return small || outweighs(tag(fingerprint), need);
    }
    void inserted(Slot slot, Fingerprint fingerprint, Bytes size) override {
        check(!held(slot));
        items_.cover(slot);
        sizes_.cover(slot);
        items_[slot].tag = tag(fingerprint);
        sizes_.set(slot, size);
        sketch_.cover(++objects_);
        expected_ = 0;
        put(size > window_most() ? probation : window, slot);
        fill_main();
    }
    void hit(Slot slot, Bytes) override {
        check(held(slot));
        move(slot, items_[slot].segment == window ? window : guarded);
        send_back();
    }
    /// Does not count as a use.
    void resized(Slot slot, Bytes size) override {
        check(held(slot));
        sizes_.change(slot, size, segments_[items_[slot].segment].bytes);
        send_back();
    }
    void removed(Slot slot, Left) override {
        check(held(slot));
        take(slot);
        items_[slot].segment = none;
        --objects_;
    }
    Slot victim() override {
        while (!segments_[window].queue.empty() && !fits_window(expected_)) {
            Slot const candidate = segments_[window].queue.oldest;
            if (!outweighs(items_[candidate].tag, sizes_[candidate])) return candidate;
            move(candidate, probation);
        }
        for (SegmentId id : {probation, guarded, window})
            if (!segments_[id].queue.empty()) return segments_[id].queue.oldest;
        return no_slot;
    }
    /// True while it is protected.
    bool keeps(Slot slot) const override { return held(slot) && items_[slot].segment == guarded; }
    void set_capacity(Bytes capacity) override { capacity_ = capacity; }
    Bytes metadata_bytes() const override {
        return sizeof *this + queues_.metadata_bytes() + items_.metadata_bytes() + sizes_.metadata_bytes() +
               sketch_.metadata_bytes();
    }

private:
    static constexpr std::uint32_t tag_bits = 30;
    static Sketch::Tag tag(Fingerprint fingerprint) { return Sketch::tag(fingerprint) & ((1u << tag_bits) - 1); }

    enum SegmentId : std::uint32_t { none, window, probation, guarded };
    struct Item {
        Sketch::Tag tag : tag_bits;
        std::uint32_t segment : 2;
    };
    static_assert(sizeof(Item) == 4);
    struct Segment {
        Queue queue;
        Bytes bytes = 0;
    };

    bool held(Slot slot) const { return items_.covers(slot) && items_[slot].segment != none; }
    Bytes main_bytes() const { return segments_[probation].bytes + segments_[guarded].bytes; }
    Bytes capacity() const { return capacity_ ? capacity_ : segments_[window].bytes + main_bytes(); }
    Bytes window_most() const { return static_cast<Bytes>(share_ * static_cast<double>(capacity())); }
    bool fits_window(Bytes newcomer) const { return segments_[window].bytes + newcomer <= window_most(); }
    /// True if it is requested more often than all of main's next victims for this room together.
    bool outweighs(Sketch::Tag tag, Bytes room) const {
        auto const estimate = sketch_.estimate(tag);
        std::uint32_t sum = 0;
        Bytes freed = 0;
        for (SegmentId id : {probation, guarded}) {
            for (Slot slot = segments_[id].queue.oldest; slot != no_slot; slot = queues_.newer(slot)) {
                sum += sketch_.estimate(items_[slot].tag);
                freed += sizes_[slot];
                if (sum >= estimate) return false;
                if (freed >= room) return true;
            }
        }
        return sum < estimate;
    }
    /// While main has room, objects evicted from the window enter it without comparison.
    void fill_main() {
        auto const main_most = capacity() - window_most();
        while (!fits_window(0)) {
            Slot const oldest = segments_[window].queue.oldest;
            if (main_bytes() + sizes_[oldest] > main_most) return;
            move(oldest, probation);
        }
    }
    void send_back() {
        auto const most = (capacity() - window_most()) / 5 * 4;
        while (segments_[guarded].bytes > most) move(segments_[guarded].queue.oldest, probation);
    }
    void put(SegmentId id, Slot slot) {
        auto& segment = segments_[id];
        queues_.push(segment.queue, slot);
        items_[slot].segment = id;
        segment.bytes += sizes_[slot];
    }
    void take(Slot slot) {
        auto& segment = segments_[items_[slot].segment];
        queues_.remove(segment.queue, slot);
        segment.bytes -= sizes_[slot];
    }
    void move(Slot slot, SegmentId id) {
        take(slot);
        put(id, slot);
    }

    double share_;
    Bytes capacity_;
    Queues queues_;
    SlotArray<Item> items_;
    Sizes sizes_;
    std::array<Segment, 4> segments_;   // by SegmentId
    std::uint64_t objects_ = 0;
    Bytes expected_ = 0;   // bytes of the newcomer to the window
    Sketch sketch_;
};

}   // namespace garner::policy
