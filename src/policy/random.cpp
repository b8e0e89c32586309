#include "policy/random.hpp"

#include "util/check.hpp"

namespace garner::policy {

void Random::inserted(Slot slot, Fingerprint, Bytes) {
    check(slot != no_slot && !held(slot));
    place_.cover(slot);
    held_.cover(count_);
    held_[count_] = slot;
    place_[slot] = ++count_;
}

void Random::hit(Slot slot, Bytes) { check(held(slot)); }

void Random::resized(Slot slot, Bytes) { check(held(slot)); }

void Random::removed(Slot slot, Left) {
    check(held(slot));
    Slot last = held_[--count_];
    held_[place_[slot] - 1] = last;
    place_[last] = place_[slot];
    place_[slot] = 0;
    if (chosen_ == slot) chosen_ = no_slot;
}

Slot Random::victim() {
    // 32 bits times a 32-bit count: no division, and no place is favoured by more than one in four thousand million.
    if (chosen_ == no_slot && count_ > 0) chosen_ = held_[(next() >> 32) * count_ >> 32];
    return chosen_;
}

bool Random::keeps(Slot slot) const { return held(slot); }

Bytes Random::metadata_bytes() const { return sizeof *this + held_.metadata_bytes() + place_.metadata_bytes(); }

/// SplitMix64 (Steele, Lea, Flood 2014): any seed will do.
std::uint64_t Random::next() {
    auto mixed = state_ += 0x9e37'79b9'7f4a'7c15;
    mixed = (mixed ^ mixed >> 30) * 0xbf58'476d'1ce4'e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d0'49bb'1331'11eb;
    return mixed ^ mixed >> 31;
}

}  // namespace garner::policy
