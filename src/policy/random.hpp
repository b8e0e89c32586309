// RANDOM: evicts any object, each with the same probability.
#pragma once
#include "policy/options.hpp"
#include "policy/policy.hpp"
#include "policy/slots.hpp"
#include "util/check.hpp"

namespace garner::policy {

/// Every call is O(1); a hit changes nothing. The choices are determined by the seed. 8 bytes a slot.
class Random final : public ReplacementPolicy {
public:
    explicit Random(Options const& options) : state_(options.seed) {}

    void inserted(Slot slot, Fingerprint, Bytes) override {
        check(slot != no_slot && !held(slot));
        index_.cover(slot);
        held_.cover(count_);
        held_[count_] = slot;
        index_[slot] = ++count_;
    }
    void hit(Slot slot, Bytes) override { check(held(slot)); }
    void resized(Slot slot, Bytes) override { check(held(slot)); }
    void removed(Slot slot, Left) override {
        check(held(slot));
        Slot const last = held_[--count_];
        held_[index_[slot] - 1] = last;
        index_[last] = index_[slot];
        index_[slot] = 0;
        if (chosen_ == slot) chosen_ = no_slot;
    }
    /// Chosen once, and kept until it is removed.
    Slot victim() override {
        // 32 bits times a 32-bit count: no division, and a bias below one in 2^32.
        if (chosen_ == no_slot && count_ > 0) chosen_ = held_[(next() >> 32) * count_ >> 32];
        return chosen_;
    }
    bool keeps(Slot slot) const override { return held(slot); }
    Bytes metadata_bytes() const override { return sizeof *this + held_.metadata_bytes() + index_.metadata_bytes(); }

private:
    bool held(Slot slot) const { return index_.covers(slot) && index_[slot] > 0; }
    /// SplitMix64 (Steele, Lea, Flood 2014): any seed is valid.
    std::uint64_t next() {
        auto mixed = state_ += 0x9e37'79b9'7f4a'7c15;
        mixed = (mixed ^ mixed >> 30) * 0xbf58'476d'1ce4'e5b9;
        mixed = (mixed ^ mixed >> 27) * 0x94d0'49bb'1331'11eb;
        return mixed ^ mixed >> 31;
    }

    SlotArray<Slot> held_;             // the first `count_`, unordered
    SlotArray<std::uint32_t> index_;   // slot's index in held_, plus one; 0: not held
    std::uint32_t count_ = 0;
    Slot chosen_ = no_slot;
    std::uint64_t state_;
};

}   // namespace garner::policy
