// SIEVE: a FIFO queue that a hand sifts; what was used stays where it is, what was not leaves.
#pragma once
#include "policy/options.hpp"
#include "policy/policy.hpp"
#include "policy/queues.hpp"

namespace garner::policy {

/// The hand goes from the oldest to the newest and begins again. It takes the mark of use from those that have it, and
/// stops at the first without: the victim. Newcomers come at the newest end, unmarked (Zhang et al., NSDI 2024). A hit
/// is O(1) and writes one byte; victim() pays one step for each mark it takes. 9 bytes a slot.
class Sieve final : public ReplacementPolicy {
public:
    explicit Sieve(Options const&) {}

    void inserted(Slot, Fingerprint, Bytes size) override;
    void hit(Slot, Bytes size) override;
    void resized(Slot, Bytes size) override;
    /// The hand, if it is there, moves on to the next newer one.
    void removed(Slot, Left) override;
    Slot victim() override;
    /// True when it was used since the hand last passed.
    bool keeps(Slot) const override;
    Bytes metadata_bytes() const override;

private:
    enum class State : std::uint8_t { absent, unused, used };
    bool held(Slot slot) const { return states_.covers(slot) && states_[slot] != State::absent; }

    Queues queues_;
    Queue held_;
    SlotArray<State> states_;
    Slot hand_ = no_slot;   // no_slot: begins at the oldest
};

}  // namespace garner::policy
