#include "store/disk_order.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>

#include "policy/policies.hpp"
#include "store/disk_slots.hpp"
#include "util/mutex.hpp"

namespace garner::store::disk {
namespace {

class FifoReinsertion final : public Order {
public:
    void stored(Fingerprint, Bytes) override {}
    void used(Fingerprint) override {}
    void removed(Fingerprint, policy::Left) override {}
    bool keeps(Fingerprint, unsigned uses) const override { return uses > 0; }
    std::optional<Fingerprint> victim() override { return {}; }
    bool has_memory() const override { return false; }
    void set_capacity(Bytes) override {}
    Bytes metadata_bytes() const override { return sizeof *this; }
};

/// A part of the records, selected by the first bits of their hashes, with a policy of its own.
class alignas(64) Shard {
public:
    void use_policy(std::unique_ptr<policy::ReplacementPolicy> policy) {
        MutexLock const lock(mutex_);
        policy_ = std::move(policy);
    }

    void stored(Fingerprint hash, Bytes bytes) {
        MutexLock const lock(mutex_);
        policy_->requested(hash);
        remove(slots_.find(hash), policy::Left::replaced);
        auto const slot = slots_.insert(hash, bytes);
        if (slot == policy::no_slot) return;
        bytes_ += slots_.bytes(slot);
        policy_->inserted(slot, hash, slots_.bytes(slot));
    }
    void used(Fingerprint hash) {
        MutexLock const lock(mutex_);
        policy_->requested(hash);
        auto const slot = slots_.find(hash);
        if (slot != policy::no_slot) policy_->hit(slot, slots_.bytes(slot));
    }
    void removed(Fingerprint hash, policy::Left why) {
        MutexLock const lock(mutex_);
        remove(slots_.find(hash), why);
    }
    bool keeps(Fingerprint hash) const {
        MutexLock const lock(mutex_);
        auto const slot = slots_.find(hash);
        return slot != policy::no_slot && policy_->keeps(slot);
    }
    std::optional<Fingerprint> victim() {
        MutexLock const lock(mutex_);
        auto const slot = policy_->victim();
        return slot == policy::no_slot ? std::nullopt : std::optional(slots_.hash(slot));
    }
    void set_capacity(Bytes capacity) {
        MutexLock const lock(mutex_);
        policy_->set_capacity(capacity);
    }
    Bytes bytes() const { return bytes_.load(std::memory_order_relaxed); }
    Bytes metadata_bytes() const {
        MutexLock const lock(mutex_);
        return slots_.metadata_bytes() + policy_->metadata_bytes();
    }

private:
    void remove(policy::Slot slot, policy::Left why) REQUIRES(mutex_) {
        if (slot == policy::no_slot) return;
        policy_->removed(slot, why);
        bytes_ -= slots_.bytes(slot);
        slots_.erase(slot);
    }

    mutable Mutex mutex_;
    std::unique_ptr<policy::ReplacementPolicy> policy_ GUARDED_BY(mutex_);
    SlotTable slots_ GUARDED_BY(mutex_);
    std::atomic<Bytes> bytes_{0};
};

class PolicyOrder final : public Order {
public:
    PolicyOrder(std::string_view policy, Bytes capacity, std::uint64_t seed)
        : shards_(count_for(capacity)), first_(std::make_unique<Shard[]>(shards_)) {
        for (std::size_t i = 0; i < shards_; ++i)
            first_[i].use_policy(policy::make(policy, {.capacity = capacity / shards_, .seed = seed + i, .lean = true}));
    }

    void stored(Fingerprint hash, Bytes bytes) override { shard(hash).stored(hash, bytes); }
    void used(Fingerprint hash) override { shard(hash).used(hash); }
    void removed(Fingerprint hash, policy::Left why) override { shard(hash).removed(hash, why); }
    bool keeps(Fingerprint hash, unsigned) const override { return shard(hash).keeps(hash); }

    /// A victim of the fullest shard, which keeps the shards balanced.
    std::optional<Fingerprint> victim() override {
        auto const end = first_.get() + shards_;
        return std::ranges::max_element(first_.get(), end, {}, &Shard::bytes)->victim();
    }
    void set_capacity(Bytes capacity) override {
        for (std::size_t i = 0; i < shards_; ++i) first_[i].set_capacity(capacity / shards_);
    }
    Bytes metadata_bytes() const override {
        Bytes sum = sizeof *this + shards_ * sizeof(Shard);
        for (std::size_t i = 0; i < shards_; ++i) sum += first_[i].metadata_bytes();
        return sum;
    }

private:
    /// A power of two. Small stores use one shard, which is exactly the configured policy.
    static std::size_t count_for(Bytes capacity) { return std::bit_floor(std::clamp<std::size_t>(capacity / (256 * MiB), 1, 64)); }
    Shard& shard(Fingerprint hash) const { return first_[(hash >> 58) % shards_]; }

    std::size_t shards_;
    std::unique_ptr<Shard[]> first_;
};

}   // namespace

std::string order_fault(std::string_view policy) {
    if (policy == fifo_reinsertion) return {};
    auto fault = policy::read_spec(policy).fault_text();
    auto const name = policy.substr(0, policy.find(':'));
    if (std::ranges::find(policy::all(), name, &policy::Row::name) == policy::all().end())
        fault.append(", and for the disk tier ").append(fifo_reinsertion);
    return fault;
}

std::unique_ptr<Order> make_order(std::string_view policy, Bytes capacity, std::uint64_t seed) {
    if (policy == fifo_reinsertion) return std::make_unique<FifoReinsertion>();
    if (!order_fault(policy).empty()) return nullptr;
    return std::make_unique<PolicyOrder>(policy, capacity, seed);
}

}   // namespace garner::store::disk
