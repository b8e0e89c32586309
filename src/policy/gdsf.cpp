#include "policy/gdsf.hpp"

#include <algorithm>

#include "util/check.hpp"

namespace garner::policy {
namespace {

constexpr std::uint64_t most_hits = (1u << 24) - 1;
constexpr Bytes greatest_size = (std::uint64_t{1} << 40) - 1;

/// Never zero: an empty object still has a head, and the key divides by it.
Bytes countable(Bytes size) { return std::clamp<Bytes>(size, 1, greatest_size); }

}  // namespace

Gdsf::Gdsf(Options const&) {}

void Gdsf::inserted(Slot slot, Fingerprint, Bytes size) {
    weights_.cover(slot);
    Weight weight{.hits = 1, .size = countable(size)};
    weights_[slot] = weight;
    heap_.push(slot, key_of(weight));
}

void Gdsf::hit(Slot slot) {
    check(heap_.contains(slot));
    Weight& weight = weights_[slot];
    if (weight.hits < most_hits) ++weight.hits;
    heap_.raise(slot, key_of(weight));
}

void Gdsf::resized(Slot slot, Bytes size) {
    check(heap_.contains(slot));
    Weight& weight = weights_[slot];
    weight.size = countable(size);
    heap_.update(slot, key_of(weight));
}

void Gdsf::removed(Slot slot, Left why) {
    // Never back: whoever evicts out of turn must not age those that are here below their own keys.
    if (why == Left::evicted) age_ = std::max(age_, heap_.key(slot));
    heap_.remove(slot);
}

Slot Gdsf::victim() { return heap_.lowest(); }

bool Gdsf::keeps(Slot slot) const { return heap_.contains(slot) && heap_.key(slot) > age_; }

Bytes Gdsf::metadata_bytes() const { return sizeof *this + heap_.metadata_bytes() + weights_.metadata_bytes(); }

// The factor only scales, but it decides how the sums round and so which keys are equal.
double Gdsf::key_of(Weight weight) const {
    return age_ + static_cast<double>(weight.hits) * 1e6 / static_cast<double>(weight.size);
}

}  // namespace garner::policy
