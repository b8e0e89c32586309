// SIEVE: a FIFO queue and a hand that evicts the objects not used since it last passed.
#pragma once
#include "policy/options.hpp"
#include "policy/policy.hpp"
#include "policy/queues.hpp"
#include "util/check.hpp"

namespace garner::policy {

/// The hand moves from the oldest to the newest and begins again. It clears marks of use, and stops at the first
/// unmarked object: the victim. Newcomers enter at the newest end, unmarked (Zhang et al., NSDI 2024). A hit is O(1)
/// and writes one byte; victim() takes one step for each mark it clears. 9 bytes a slot.
class Sieve final : public ReplacementPolicy {
public:
    explicit Sieve(Options const&) {}

    void inserted(Slot slot, Fingerprint, Bytes) override {
        queues_.push(held_, slot);
        states_.cover(slot);
        states_[slot] = State::unused;
    }
    void hit(Slot slot, Bytes) override {
        check(held(slot));
        states_[slot] = State::used;
    }
    void resized(Slot slot, Bytes) override { check(held(slot)); }
    /// A hand at this slot moves on to the next newer one.
    void removed(Slot slot, Left) override {
        if (hand_ == slot) hand_ = queues_.newer(slot);
        queues_.remove(held_, slot);
        states_[slot] = State::absent;
    }
    Slot victim() override {
        if (held_.empty()) return no_slot;
        if (hand_ == no_slot) hand_ = held_.oldest;
        while (states_[hand_] == State::used) {
            states_[hand_] = State::unused;
            hand_ = queues_.newer(hand_);
            if (hand_ == no_slot) hand_ = held_.oldest;
        }
        return hand_;
    }
    /// True when it was used since the hand last passed.
    bool keeps(Slot slot) const override { return states_.covers(slot) && states_[slot] == State::used; }
    Bytes metadata_bytes() const override { return sizeof *this + queues_.metadata_bytes() + states_.metadata_bytes(); }

private:
    enum class State : std::uint8_t { absent, unused, used };
    bool held(Slot slot) const { return states_.covers(slot) && states_[slot] != State::absent; }

    Queues queues_;
    Queue held_;
    SlotArray<State> states_;
    Slot hand_ = no_slot;   // no_slot: begins at the oldest
};

}   // namespace garner::policy
