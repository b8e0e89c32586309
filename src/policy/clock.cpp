#include "policy/clock.hpp"

#include "util/check.hpp"

namespace garner::policy {

Clock::Clock(Options const& options)
    : most_(static_cast<Uses>(unused + (1u << static_cast<unsigned>(options.value(settings, 0))) - 1)) {}

void Clock::inserted(Slot slot, Fingerprint, Bytes) {
    queues_.push(held_, slot);
    uses_.cover(slot);
    uses_[slot] = unused;
}

void Clock::hit(Slot slot, Bytes) {
    check(held(slot));
    if (uses_[slot] < most_) ++uses_[slot];
}

void Clock::resized(Slot slot, Bytes) { check(held(slot)); }

void Clock::removed(Slot slot, Left) {
    queues_.remove(held_, slot);
    uses_[slot] = 0;
}

Slot Clock::victim() {
    while (!held_.empty() && uses_[held_.oldest] > unused) {
        --uses_[held_.oldest];
        queues_.move(held_, held_, held_.oldest);
    }
    return held_.oldest;
}

bool Clock::keeps(Slot slot) const { return held(slot) && uses_[slot] > unused; }

Bytes Clock::metadata_bytes() const { return sizeof *this + queues_.metadata_bytes() + uses_.metadata_bytes(); }

}  // namespace garner::policy
