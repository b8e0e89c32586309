#include "policy/gdsf.hpp"

#include <algorithm>

#include "util/check.hpp"

namespace garner::policy {

Gdsf::Gdsf(Options const& options) : heap_(options.lean ? LazyHeap::Keys::lean : LazyHeap::Keys::exact) {}

void Gdsf::inserted(Slot slot, Fingerprint, Bytes size) {
    hits_.cover(slot);
    hits_[slot] = 1;
    heap_.push(slot, key_of(1, size));
}

void Gdsf::hit(Slot slot, Bytes size) {
    check(heap_.contains(slot));
    auto& hits = hits_[slot];
    if (hits < UINT32_MAX) ++hits;
    heap_.raise(slot, key_of(hits, size));
}

void Gdsf::resized(Slot slot, Bytes size) {
    check(heap_.contains(slot));
    heap_.update(slot, key_of(hits_[slot], size));
}

void Gdsf::removed(Slot slot, Left why) {
    // Never back: whoever evicts out of turn must not age those that are here below their own keys.
    if (why == Left::evicted) age_ = std::max(age_, heap_.key(slot));
    heap_.remove(slot);
}

Slot Gdsf::victim() { return heap_.lowest(); }

bool Gdsf::keeps(Slot slot) const { return heap_.contains(slot) && heap_.key(slot) > age_; }

Bytes Gdsf::metadata_bytes() const { return sizeof *this + heap_.metadata_bytes() + hits_.metadata_bytes(); }

// The factor only scales, but it decides how the sums round and so which keys are equal. An object of no bytes still
// has a head: it counts as one byte.
double Gdsf::key_of(std::uint32_t hits, Bytes size) const {
    return age_ + static_cast<double>(hits) * 1e6 / static_cast<double>(std::max<Bytes>(size, 1));
}

}  // namespace garner::policy
