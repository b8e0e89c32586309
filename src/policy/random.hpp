// RANDOM: any one leaves, each as likely as another.
#pragma once
#include "policy/options.hpp"
#include "policy/policy.hpp"
#include "policy/slots.hpp"

namespace garner::policy {

/// Every call is O(1); a hit changes nothing. The choices follow from the seed. 8 bytes a slot.
class Random final : public ReplacementPolicy {
public:
    explicit Random(Options const& options) : state_(options.seed) {}

    void inserted(Slot, Fingerprint, Bytes size) override;
    void hit(Slot, Bytes size) override;
    void resized(Slot, Bytes size) override;
    void removed(Slot, Left) override;
    /// Chosen once, whatever else comes and goes until it is removed.
    Slot victim() override;
    /// True while it is held: nothing tells one from another.
    bool keeps(Slot) const override;
    Bytes metadata_bytes() const override;

private:
    bool held(Slot slot) const { return place_.covers(slot) && place_[slot] > 0; }
    std::uint64_t next();

    SlotArray<Slot> held_;             // the first `count_`, in no order
    SlotArray<std::uint32_t> place_;   // of a slot in held_, plus one; 0: not held
    std::uint32_t count_ = 0;
    Slot chosen_ = no_slot;
    std::uint64_t state_;
};

}  // namespace garner::policy
