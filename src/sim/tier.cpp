#include "sim/tier.hpp"

#include <algorithm>
#include <utility>

namespace garner::sim {

Tier::Tier(std::unique_ptr<policy::ReplacementPolicy> policy, Bytes budget, Bytes object_max)
    : policy_(std::move(policy)), budget_(budget), object_max_(std::min(budget, object_max)) {}

Tier::Slot Tier::take_slot() {
    if (free_ != policy::no_slot) return std::exchange(free_, records_[free_].key);
    if (records_end_ % fit_every == 0) fit_index();
    records_.cover(records_end_);
    return records_end_++;
}

/// Index and policy together should take at most 40 bytes per object: with a small policy the index may be larger, and so
/// faster.
void Tier::fit_index() {
    constexpr unsigned roomy = 60, tight = 85;   // percent
    constexpr Bytes lean = 20;                   // bytes per slot
    index_.fill_to(policy_->metadata_bytes() > lean * std::max<Slot>(records_end_, fit_every) ? tight : roomy);
}

Bytes Tier::metadata_bytes() const {
    return sizeof *this + index_.metadata_bytes() + records_.metadata_bytes() + policy_->metadata_bytes() +
           large_.size() * 2 * sizeof(std::pair<Slot, Bytes>);
}

}   // namespace garner::sim
