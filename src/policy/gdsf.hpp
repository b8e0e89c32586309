// GDSF, Greedy-Dual-Size with frequency: keeps small and frequently used objects, and ages.
#pragma once
#include <algorithm>

#include "policy/lazy_heap.hpp"
#include "policy/options.hpp"
#include "policy/policy.hpp"
#include "policy/slots.hpp"
#include "util/check.hpp"

namespace garner::policy {

/// Evicts the lowest L + f * 1e6 / size, with f the hits since insertion plus one and L the key of the last evicted
/// one (Cherkasova 1998; Arlitt et al. 2000). Keys are doubles, and nothing is ever subtracted. Ties: the least
/// recently used. hit() is O(1), the others O(log n). 24 bytes a slot, 20 of a lean one. f counts up to 2^32 - 1.
class Gdsf final : public ReplacementPolicy {
public:
    explicit Gdsf(Options const& options) : heap_(options.lean ? LazyHeap::Keys::lean : LazyHeap::Keys::exact) {}

    void inserted(Slot slot, Fingerprint, Bytes size) override {
        hits_.cover(slot);
        hits_[slot] = 1;
        heap_.push(slot, key_of(1, size));
    }
    void hit(Slot slot, Bytes size) override {
        check(heap_.contains(slot));
        auto& hits = hits_[slot];
        if (hits < UINT32_MAX) ++hits;
        heap_.raise(slot, key_of(hits, size));
    }
    /// Computes the key with the current L; not a use.
    void resized(Slot slot, Bytes size) override {
        check(heap_.contains(slot));
        heap_.update(slot, key_of(hits_[slot], size));
    }
    void removed(Slot slot, Left why) override {
        // L never decreases: an eviction out of order must not put newcomers below the objects that are held.
        if (why == Left::evicted) age_ = std::max(age_, heap_.key(slot));
        heap_.remove(slot);
    }
    Slot victim() override { return heap_.lowest(); }
    /// True while its key is above that of the last evicted one.
    bool keeps(Slot slot) const override { return heap_.contains(slot) && heap_.key(slot) > age_; }
    Bytes metadata_bytes() const override { return sizeof *this + heap_.metadata_bytes() + hits_.metadata_bytes(); }

private:
    // The factor only scales, but it determines rounding and so which keys are equal. An object without bytes still
    // has a head: it counts as one byte.
    double key_of(std::uint32_t hits, Bytes size) const {
        return age_ + static_cast<double>(hits) * 1e6 / static_cast<double>(std::max<Bytes>(size, 1));
    }

    LazyHeap heap_;
    SlotArray<std::uint32_t> hits_;   // f
    double age_ = 0;                  // L
};

}   // namespace garner::policy
