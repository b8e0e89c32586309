// LFUDA, LFU with dynamic ageing: keeps frequently used objects, and ages.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "policy/options.hpp"
#include "policy/policy.hpp"
#include "policy/queues.hpp"
#include "util/check.hpp"

namespace garner::policy {

/// Evicts the lowest L + f, with f the hits since insertion plus one and L the key of the last evicted one, in
/// integers (Arlitt et al. 2000). Ties: the least recently used. A hit is O(1). victim() also does deferred work:
/// amortised O(log of the key range) a use. 20 bytes a slot. f counts up to 2^32 - 1.
///
/// New keys are never below those evicted, so a radix heap holds them (Ahuja, Mehlhorn, Orlin, Tarjan 1990). Band b
/// has the keys whose highest bit that differs from `base_` is bit b - 1, in order of use. The base is never above L
/// or any key. When the base moves, only the band it moves into is redistributed, in order, to empty bands. So band
/// 0, with a single key, is a queue in order of use.
class Lfuda final : public ReplacementPolicy {
public:
    explicit Lfuda(Options const&) {}

    void inserted(Slot slot, Fingerprint, Bytes) override {
        keys_.cover(slot);
        hits_.cover(slot);
        hits_[slot] = 1;
        keys_[slot] = age_ + 1;
        queues_.push(band_of(keys_[slot]), slot);
    }
    void hit(Slot slot, Bytes) override {
        check(queues_.contains(slot));
        auto& hits = hits_[slot];
        if (hits < UINT32_MAX) ++hits;
        Queue& from = band_of(keys_[slot]);
        keys_[slot] = age_ + hits;
        queues_.move(from, band_of(keys_[slot]), slot);
    }
    void resized(Slot slot, Bytes) override { check(queues_.contains(slot)); }
    void removed(Slot slot, Left why) override {
        check(queues_.contains(slot));
        // L never decreases: an eviction out of order must not put newcomers below the objects that are held.
        if (why == Left::evicted) age_ = std::max(age_, keys_[slot]);
        queues_.remove(band_of(keys_[slot]), slot);
    }
    Slot victim() override {
        auto const lowest_band = std::ranges::find_if(bands_, [](Queue const& band) { return !band.empty(); });
        if (lowest_band == bands_.end()) return no_slot;
        if (lowest_band == bands_.begin()) return lowest_band->oldest;
        Slot const lowest = lowest_in(*lowest_band);
        move_base(std::min(age_, keys_[lowest]));
        return lowest;
    }
    /// True while its key is above that of the last evicted one.
    bool keeps(Slot slot) const override { return queues_.contains(slot) && keys_[slot] > age_; }
    Bytes metadata_bytes() const override {
        return sizeof *this + queues_.metadata_bytes() + keys_.metadata_bytes() + hits_.metadata_bytes();
    }

private:
    using Key = std::uint64_t;
    Queue& band_of(Key key) { return bands_[static_cast<std::size_t>(std::bit_width(key ^ base_))]; }
    /// The oldest of those with the lowest key.
    Slot lowest_in(Queue const& band) const {
        Slot lowest = band.oldest;
        for (Slot slot = lowest; slot != no_slot; slot = queues_.newer(slot))
            if (keys_[slot] < keys_[lowest]) lowest = slot;
        return lowest;
    }
    void move_base(Key base) {
        if (base == base_) return;
        Queue dealt = std::exchange(band_of(base), {});
        base_ = base;
        while (!dealt.empty()) queues_.move(dealt, band_of(keys_[dealt.oldest]), dealt.oldest);
    }

    Queues queues_;
    std::array<Queue, 65> bands_;
    SlotArray<Key> keys_;
    SlotArray<std::uint32_t> hits_;   // f
    Key age_ = 0;                     // L
    Key base_ = 0;
};

}   // namespace garner::policy
