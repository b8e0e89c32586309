// One simulated cache tier: an index, a policy and a budget in bytes.
#pragma once
#include <memory>
#include <unordered_map>
#include <utility>

#include "policy/policy.hpp"
#include "policy/slots.hpp"
#include "sim/slot_index.hpp"
#include "util/check.hpp"

namespace garner::sim {

/// Evicts while occupied + size > budget, then inserts. An object larger than the budget or than `object_max` is a miss, is
/// not stored and evicts nothing. A key keeps its first size until it is evicted. Not thread-safe. The index takes about 15
/// bytes per object in addition to the policy.
class Tier {
public:
    Tier(std::unique_ptr<policy::ReplacementPolicy>, Bytes budget, Bytes object_max = UINT64_MAX);

    /// Requests a key; a missed object is stored if allowed. True on a hit.
    bool request(std::uint32_t key, Bytes size) { return request(*policy_, key, hash_of(key), size); }
    /// The same. `policy` is policy(), by its own class if the caller knows it: then its functions are inlined. `hash`: that of the
    /// key.
    template <class Policy>
    bool request(Policy& policy, std::uint32_t key, std::uint64_t hash, Bytes size) {
        policy.requested(hash);
        auto slot = index_.find(hash, [&](Slot candidate) { return records_[candidate].key == key; });
        if (slot == policy::no_slot) {
            miss(policy, key, hash, size);
            return false;
        }
        policy.hit(slot, size_of(slot));
        return true;
    }
    /// To be called with the hash of a key some requests ahead: the index does not fit into the processor's inner caches.
    void prefetch(std::uint64_t hash) const { index_.prefetch(hash); }
    static std::uint64_t hash_of(std::uint32_t key) {
        auto product = static_cast<unsigned __int128>(key ^ 0x9e3779b97f4a7c15u) * 0xd6e8feb86659fd93u;
        return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
    }

    Bytes budget() const { return budget_; }
    Bytes occupied() const { return occupied_; }
    std::size_t objects() const { return index_.size(); }
    std::size_t objects_most() const { return records_end_; }
    Bytes metadata_bytes() const;
    policy::ReplacementPolicy& policy() { return *policy_; }

private:
    using Slot = policy::Slot;
    struct Record {
        std::uint32_t key;    // in a free slot: the next free one
        std::uint32_t size;   // `large`: see large_
    };
    static constexpr std::uint32_t large = UINT32_MAX;
    static constexpr Slot fit_every = 256;   // newly used slots

    Bytes size_of(Slot slot) const {
        auto size = records_[slot].size;
        return size == large ? large_.at(slot) : size;
    }
    template <class Policy>
    void miss(Policy& policy, std::uint32_t key, std::uint64_t hash, Bytes size);
    template <class Policy>
    void evict(Policy& policy);
    Slot take_slot();
    void fit_index();

    std::unique_ptr<policy::ReplacementPolicy> policy_;
    Bytes budget_;
    Bytes object_max_;
    Bytes occupied_ = 0;
    SlotIndex index_;
    policy::SlotArray<Record> records_;
    Slot records_end_ = 0;                    // slots beyond were never used
    Slot free_ = policy::no_slot;             // the head of a list
    std::unordered_map<Slot, Bytes> large_;   // sizes of 4 GiB and more
};

template <class Policy>
void Tier::miss(Policy& policy, std::uint32_t key, std::uint64_t hash, Bytes size) {
    if (size > object_max_) return;
    Bytes need = occupied_ + size > budget_ ? occupied_ + size - budget_ : 0;
    if (need > 0 && !policy.admits(hash, size, need)) return;
    while (occupied_ + size > budget_) evict(policy);
    auto slot = take_slot();
    records_[slot] = {key, size < large ? static_cast<std::uint32_t>(size) : large};
    if (size >= large) large_[slot] = size;
    occupied_ += size;
    check(occupied_ <= budget_);
    index_.insert(hash, slot, [&](Slot held) { return hash_of(records_[held].key); });
    policy.inserted(slot, hash, size);
}

template <class Policy>
void Tier::evict(Policy& policy) {
    auto victim = policy.victim();
    check(victim < records_end_);
    auto& record = records_[victim];
    occupied_ -= size_of(victim);
    if (record.size == large) large_.erase(victim);
    index_.erase(hash_of(record.key), victim);
    policy.removed(victim, policy::Left::evicted);
    record.key = std::exchange(free_, victim);
}

}   // namespace garner::sim
