// SLRU, segmented LRU: a second use protects an object from those used only once.
#pragma once
#include <algorithm>
#include <array>

#include "policy/options.hpp"
#include "policy/policy.hpp"
#include "policy/queues.hpp"
#include "util/check.hpp"

namespace garner::policy {

/// Newcomers are on probation; a hit makes an object the newest protected one. While the protected segment exceeds
/// its share of the capacity, in bytes, its least recently used object moves to the newest end of probation. Evicts
/// the least recently used object on probation, or a protected one if there is none (Karedla, Love, Wherry 1994).
/// While the capacity is unknown, the bytes held are used instead. Every call is amortised O(1): each object that a
/// hit moves back was protected by an earlier hit. 12 bytes a slot. An object counts for 2 GiB at most.
class Slru final : public ReplacementPolicy {
public:
    static constexpr std::array settings{
        Setting{.name = "protected", .what = "share of the capacity for objects used again", .initial = 0.8, .most = 1},
    };

    explicit Slru(Options const& options) : share_(options.value(settings, 0)), capacity_(options.capacity) {}

    void inserted(Slot slot, Fingerprint, Bytes size) override {
        items_.cover(slot);
        items_[slot] = {};
        put(probation_, slot);
        count_size(slot, size);
    }
    void hit(Slot slot, Bytes) override {
        check(queues_.contains(slot));
        take(slot);
        put(protected_, slot);
        send_back();
    }
    /// Does not count as a use.
    void resized(Slot slot, Bytes size) override {
        check(queues_.contains(slot));
        count_size(slot, size);
        send_back();
    }
    void removed(Slot slot, Left) override {
        check(queues_.contains(slot));
        take(slot);
    }
    Slot victim() override { return probation_.queue.empty() ? protected_.queue.oldest : probation_.queue.oldest; }
    /// True while it is protected.
    bool keeps(Slot slot) const override { return queues_.contains(slot) && items_[slot].is_protected; }
    void set_capacity(Bytes capacity) override { capacity_ = capacity; }
    Bytes metadata_bytes() const override { return sizeof *this + queues_.metadata_bytes() + items_.metadata_bytes(); }

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
    void put(Segment& segment, Slot slot) {
        queues_.push(segment.queue, slot);
        items_[slot].is_protected = &segment == &protected_;
        segment.bytes += items_[slot].size;
    }
    void take(Slot slot) {
        Segment& segment = segment_of(slot);
        queues_.remove(segment.queue, slot);
        segment.bytes -= items_[slot].size;
    }
    void count_size(Slot slot, Bytes size) {
        constexpr Bytes most = (1u << 31) - 1;
        auto& bytes = segment_of(slot).bytes;
        bytes -= items_[slot].size;
        items_[slot].size = static_cast<std::uint32_t>(std::min(size, most));
        bytes += items_[slot].size;
    }
    void send_back() {
        auto const capacity = static_cast<double>(capacity_ ? capacity_ : probation_.bytes + protected_.bytes);
        auto const most = static_cast<Bytes>(share_ * capacity);
        while (protected_.bytes > most) {
            Slot const slot = protected_.queue.oldest;
            take(slot);
            put(probation_, slot);
        }
    }

    double share_;
    Bytes capacity_;
    Queues queues_;
    SlotArray<Item> items_;
    Segment probation_, protected_;
};

}   // namespace garner::policy
