// GDSF, Greedy-Dual-Size with frequency: keeps what is small and often asked for, and forgets with time.
#pragma once
#include "policy/lazy_heap.hpp"
#include "policy/options.hpp"
#include "policy/policy.hpp"
#include "policy/slots.hpp"

namespace garner::policy {

/// The lowest L + f * 1e6 / size leaves, with f the hits since insertion plus one and L the key of the last one evicted
/// (Cherkasova 1998; Arlitt et al. 2000). In double, nothing is ever subtracted. Ties: the least recently used leaves.
/// hit() is O(1), the others O(log n). 24 bytes a slot, 20 of a lean one. f counts up to 2^32 - 1.
class Gdsf final : public ReplacementPolicy {
public:
    explicit Gdsf(Options const&);

    void inserted(Slot, Fingerprint, Bytes size) override;
    void hit(Slot, Bytes size) override;
    /// Valued anew with the L of now; not a use.
    void resized(Slot, Bytes size) override;
    /// Left::evicted moves L to this object's key.
    void removed(Slot, Left) override;
    Slot victim() override;
    /// True while it is worth more than the last one evicted.
    bool keeps(Slot) const override;
    Bytes metadata_bytes() const override;

private:
    double key_of(std::uint32_t hits, Bytes size) const;

    LazyHeap heap_;
    SlotArray<std::uint32_t> hits_;   // f
    double age_ = 0;   // L
};

}  // namespace garner::policy
