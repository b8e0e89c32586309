// A minimal cache: feeds requests to a policy and counts misses.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "policy/policy.hpp"
#include "support/trace.hpp"

namespace garner::policy {

/// Budget in bytes: evicts while occupied + size > budget, then inserts. An object larger than the budget is a miss, is not stored
/// and evicts nothing. A key keeps its first size.
class Replay {
public:
    Replay(ReplacementPolicy& policy, Bytes budget) : policy_(policy), budget_(budget) {}

    void request(std::uint64_t key, Bytes size) {
        ++requests;
        bytes += size;
        policy_.requested(key);
        if (auto found = slots_.find(key); found != slots_.end()) return policy_.hit(found->second, objects_[found->second].size);
        ++misses;
        missed_bytes += size;
        if (size > budget_) return;
        Bytes need = occupied_ + size > budget_ ? occupied_ + size - budget_ : 0;
        if (need > 0 && !policy_.admits(key, size, need)) return;
        while (occupied_ + size > budget_) evict();
        store(key, size);
    }

    Bytes occupied() const { return occupied_; }
    double miss_ratio() const { return static_cast<double>(misses) / static_cast<double>(requests); }
    double byte_miss_ratio() const { return static_cast<double>(missed_bytes) / static_cast<double>(bytes); }

    std::uint64_t requests = 0, misses = 0;
    Bytes bytes = 0, missed_bytes = 0;
    std::vector<std::uint64_t> evicted;   // keys, in order

private:
    void evict() {
        Slot victim = policy_.victim();
        auto object = objects_.at(victim);
        policy_.removed(victim, Left::evicted);
        occupied_ -= object.size;
        slots_.erase(object.key);
        free_.push_back(victim);
        evicted.push_back(object.key);
    }

    void store(std::uint64_t key, Bytes size) {
        if (free_.empty()) {
            free_.push_back(static_cast<Slot>(objects_.size()));
            objects_.emplace_back();
        }
        Slot slot = free_.back();
        free_.pop_back();
        objects_[slot] = {key, size};
        slots_[key] = slot;
        occupied_ += size;
        policy_.inserted(slot, key, size);
    }

    ReplacementPolicy& policy_;
    Bytes budget_;
    Bytes occupied_ = 0;
    std::unordered_map<std::uint64_t, Slot> slots_;
    std::vector<test::TraceRequest> objects_;
    std::vector<Slot> free_;
};

}   // namespace garner::policy
