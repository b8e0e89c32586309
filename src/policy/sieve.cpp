#include "policy/sieve.hpp"

#include "util/check.hpp"

namespace garner::policy {

void Sieve::inserted(Slot slot, Fingerprint, Bytes) {
    queues_.push(held_, slot);
    states_.cover(slot);
    states_[slot] = State::unused;
}

void Sieve::hit(Slot slot, Bytes) {
    check(held(slot));
    states_[slot] = State::used;
}

void Sieve::resized(Slot slot, Bytes) { check(held(slot)); }

void Sieve::removed(Slot slot, Left) {
    if (hand_ == slot) hand_ = queues_.newer(slot);
    queues_.remove(held_, slot);
    states_[slot] = State::absent;
}

Slot Sieve::victim() {
    if (held_.empty()) return no_slot;
    if (hand_ == no_slot) hand_ = held_.oldest;
    while (states_[hand_] == State::used) {
        states_[hand_] = State::unused;
        hand_ = queues_.newer(hand_);
        if (hand_ == no_slot) hand_ = held_.oldest;
    }
    return hand_;
}

bool Sieve::keeps(Slot slot) const { return states_.covers(slot) && states_[slot] == State::used; }

Bytes Sieve::metadata_bytes() const { return sizeof *this + queues_.metadata_bytes() + states_.metadata_bytes(); }

}  // namespace garner::policy
