#include "sim/tier.hpp"

#include <algorithm>
#include <utility>

namespace garner::sim {

Tier::Tier(std::unique_ptr<policy::ReplacementPolicy> policy, Bytes budget, Bytes object_max)
    : policy_(std::move(policy)), budget_(budget), object_max_(std::min(budget, object_max)) {}

void Tier::miss(std::uint32_t key, std::uint64_t hash, Bytes size) {
    if (size > object_max_) return;
    Bytes need = occupied_ + size > budget_ ? occupied_ + size - budget_ : 0;
    if (need > 0 && !policy_->admits(hash, size, need)) return;
    while (occupied_ + size > budget_) evict();
    auto slot = take_slot();
    records_[slot] = {key, size < large ? static_cast<std::uint32_t>(size) : large};
    if (size >= large) large_[slot] = size;
    occupied_ += size;
    check(occupied_ <= budget_);
    index_.insert(hash, slot, [&](Slot held) { return hash_of(records_[held].key); });
    policy_->inserted(slot, hash, size);
}

void Tier::evict() {
    auto victim = policy_->victim();
    check(victim < records_end_);
    auto& record = records_[victim];
    occupied_ -= size_of(victim);
    if (record.size == large) large_.erase(victim);
    index_.erase(hash_of(record.key), victim);
    policy_->removed(victim, policy::Left::evicted);
    record.key = std::exchange(free_, victim);
}

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
