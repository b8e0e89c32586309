#include "policy/lfuda.hpp"

#include <algorithm>
#include <utility>

#include "util/check.hpp"

namespace garner::policy {

void Lfuda::inserted(Slot slot, Fingerprint, Bytes) {
    keys_.cover(slot);
    hits_.cover(slot);
    hits_[slot] = 1;
    keys_[slot] = age_ + 1;
    queues_.push(band_of(keys_[slot]), slot);
}

void Lfuda::hit(Slot slot, Bytes) {
    check(queues_.contains(slot));
    auto& hits = hits_[slot];
    if (hits < UINT32_MAX) ++hits;
    Queue& from = band_of(keys_[slot]);
    keys_[slot] = age_ + hits;
    queues_.move(from, band_of(keys_[slot]), slot);
}

void Lfuda::resized(Slot slot, Bytes) { check(queues_.contains(slot)); }

void Lfuda::removed(Slot slot, Left why) {
    check(queues_.contains(slot));
    // Never back: whoever evicts out of turn must not age those that are here below their own keys.
    if (why == Left::evicted) age_ = std::max(age_, keys_[slot]);
    queues_.remove(band_of(keys_[slot]), slot);
}

Slot Lfuda::victim() {
    auto lowest_band = std::ranges::find_if(bands_, [](Queue const& band) { return !band.empty(); });
    if (lowest_band == bands_.end()) return no_slot;
    if (lowest_band == bands_.begin()) return lowest_band->oldest;
    Slot const lowest = lowest_in(*lowest_band);
    move_base(std::min(age_, keys_[lowest]));
    return lowest;
}

bool Lfuda::keeps(Slot slot) const { return queues_.contains(slot) && keys_[slot] > age_; }

Bytes Lfuda::metadata_bytes() const {
    return sizeof *this + queues_.metadata_bytes() + keys_.metadata_bytes() + hits_.metadata_bytes();
}

/// The oldest of those with the lowest key.
Slot Lfuda::lowest_in(Queue const& band) const {
    Slot lowest = band.oldest;
    for (Slot slot = lowest; slot != no_slot; slot = queues_.newer(slot))
        if (keys_[slot] < keys_[lowest]) lowest = slot;
    return lowest;
}

void Lfuda::move_base(Key base) {
    if (base == base_) return;
    Queue dealt = std::exchange(band_of(base), {});
    base_ = base;
    while (!dealt.empty()) queues_.move(dealt, band_of(keys_[dealt.oldest]), dealt.oldest);
}

}  // namespace garner::policy
