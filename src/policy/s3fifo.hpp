// S3-FIFO: a small queue filters out objects used once before they enter the main queue.
#pragma once
#include <array>

#include "policy/ghost.hpp"
#include "policy/options.hpp"
#include "policy/policy.hpp"
#include "policy/queues.hpp"
#include "policy/sizes.hpp"
#include "util/check.hpp"

namespace garner::policy {

/// Three FIFO queues (Yang et al., SOSP 2023). A newcomer enters the small queue, or main if it is in the ghost
/// queue. While the small queue fills its share of the capacity, in bytes, its oldest object is checked. Used more
/// than once, it moves to main with its uses reset. Otherwise it is evicted and enters the ghost queue, which has as
/// many entries as main has objects (three quarters in a lean one). If the small queue is below its share, main's
/// oldest is checked: without uses it is evicted, otherwise it loses one and becomes the newest again. Uses saturate
/// at 3.
///
/// While the capacity is unknown, the bytes held are used instead. A hit is O(1) and writes one word; victim() takes
/// one step for each use it removes. 16 bytes a slot and at most 8 for the ghost, of a lean one 14 and 6. An object
/// counts for 4 GiB at most.
class S3Fifo final : public ReplacementPolicy {
public:
    static constexpr std::array settings{
        Setting{.name = "small", .what = "share of the capacity for the small queue of new objects", .initial = 0.1, .most = 1},
    };

    explicit S3Fifo(Options const& options)
        : share_(options.value(settings, 0)), capacity_(options.capacity), sizes_(options.lean), lean_(options.lean) {}

    void inserted(Slot slot, Fingerprint fingerprint, Bytes size) override {
        check(!held(slot));
        items_.cover(slot);
        sizes_.cover(slot);
        auto const tag = Ghost::tag(fingerprint);
        items_[slot] = {.tag = tag, .queue = none, .uses = 0};
        sizes_.set(slot, size);
        put(ghost_.take(tag) ? main : small, slot);
    }
    void hit(Slot slot, Bytes) override {
        check(held(slot));
        if (items_[slot].uses < most_uses) ++items_[slot].uses;
    }
    /// Does not count as a use.
    void resized(Slot slot, Bytes size) override {
        check(held(slot));
        sizes_.change(slot, size, lines_[items_[slot].queue].bytes);
    }
    /// Objects evicted from the small queue enter the ghost queue.
    void removed(Slot slot, Left why) override {
        check(held(slot));
        if (why == Left::evicted && items_[slot].queue == small) {
            auto const objects = lines_[main].objects;
            ghost_.count(lean_ ? objects - objects / 4 : objects);
            ghost_.put(items_[slot].tag);
        }
        take(slot);
        items_[slot].queue = none;
    }
    Slot victim() override {
        for (;;) {
            bool const from_small = small_is_full();
            Slot const oldest = lines_[from_small ? small : main].queue.oldest;
            if (oldest == no_slot) return no_slot;
            auto& item = items_[oldest];
            if (item.uses <= (from_small ? 1u : 0u)) return oldest;
            item.uses = from_small ? 0 : item.uses - 1;
            take(oldest);
            put(main, oldest);
        }
    }
    /// True in the main queue, and for objects that would move there.
    bool keeps(Slot slot) const override { return held(slot) && (items_[slot].queue == main || items_[slot].uses > 1); }
    void set_capacity(Bytes capacity) override { capacity_ = capacity; }
    Bytes metadata_bytes() const override {
        return sizeof *this + queues_.metadata_bytes() + items_.metadata_bytes() + sizes_.metadata_bytes() +
               ghost_.metadata_bytes();
    }

private:
    enum QueueId : std::uint32_t { none, small, main };
    struct Item {
        Ghost::Tag tag : Ghost::tag_bits;
        std::uint32_t queue : 2;
        std::uint32_t uses : 2;
    };
    static_assert(sizeof(Item) == 4);
    static constexpr std::uint32_t most_uses = 3;
    struct Line {
        Queue queue;
        Bytes bytes = 0;
        std::uint64_t objects = 0;
    };

    bool held(Slot slot) const { return items_.covers(slot) && items_[slot].queue != none; }
    /// True when the next victim comes from the small queue.
    bool small_is_full() const {
        Line const& few = lines_[small];
        Line const& many = lines_[main];
        if (few.queue.empty() || many.queue.empty()) return many.queue.empty();
        auto const capacity = static_cast<double>(capacity_ ? capacity_ : few.bytes + many.bytes);
        return static_cast<double>(few.bytes) >= share_ * capacity;
    }
    void put(QueueId id, Slot slot) {
        auto& line = lines_[id];
        queues_.push(line.queue, slot);
        items_[slot].queue = id;
        line.bytes += sizes_[slot];
        ++line.objects;
    }
    void take(Slot slot) {
        auto& line = lines_[items_[slot].queue];
        queues_.remove(line.queue, slot);
        line.bytes -= sizes_[slot];
        --line.objects;
    }

    double share_;
    Bytes capacity_;
    Queues queues_;
    SlotArray<Item> items_;
    Sizes sizes_;
    std::array<Line, 3> lines_;   // by QueueId
    Ghost ghost_;
    bool const lean_;
};

}   // namespace garner::policy
