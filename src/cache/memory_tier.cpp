#include "cache/memory_tier.hpp"

#include <algorithm>
#include <bit>

#include "policy/policies.hpp"
#include "util/check.hpp"
#include "util/random_bits.hpp"

namespace garner::cache {

namespace {

/// An object of object_max must be able to grow, whatever the share.
Bytes filling_capacity(Options const& options) {
    auto share = static_cast<Bytes>(static_cast<double>(options.size) * options.fill_share);
    return std::min(options.size, std::max(share, options.object_max));
}

// In a smaller shard the index and its marks would take more than a few per cent.
constexpr Bytes least_share = 256 * KiB;

unsigned shards_of(Options const& options) {
    return static_cast<unsigned>(std::clamp<Bytes>(std::bit_floor(options.size / least_share), 1, options.shards));
}

// A fraction of memory.size: a negative entry is worth less than an object stored in its place.
std::size_t failures_of(Options const& options) {
    constexpr Bytes part = 64, one_with_words = 384;
    return std::min<Bytes>(NegativeCache::entries_default, options.size / part / one_with_words);
}

std::unique_ptr<policy::ReplacementPolicy> make_policy(Options const& options, std::size_t shards, std::uint64_t seed) {
    policy::Options of_policy;
    of_policy.capacity = options.size / shards;
    of_policy.seed = seed;
    auto made = policy::make(options.policy, of_policy);
    check(made != nullptr);
    return made;
}

}   // namespace

Bytes least_size(Options const& options) {
    constexpr Bytes part = 2;   // half of it for objects
    auto tried = options;
    for (tried.size = std::max<Bytes>(tried.size, KiB);; tried.size *= 2) {
        auto const shards = shards_of(tried);
        Shard one(make_policy(tried, shards, 1));
        MutexLock const lock(one.mutex);
        if (part * shards * one.metadata_bytes() <= tried.size) return tried.size;
    }
}

MemoryTier::MemoryTier(Options const& options, DiskTier& behind, Numbers& all_numbers, Invalidations& all_invalidations)
    : numbers(all_numbers), invalidations(all_invalidations), behind_(behind), seed_(options.seed ? options.seed : random_bits()),
      object_max_(options.object_max), budget_(options.size, filling_capacity(options)), policy_(options.policy),
      failures_(failures_of(options), &budget_) {
    check(options.shards > 0);
    auto const shards = shards_of(options);
    for (unsigned i = 0; i < shards; ++i) {
        shards_.push_back(std::make_unique<Shard>(make_policy(options, shards, seed_ + i)));
        charge_metadata(*shards_.back());
    }
    shard_bytes_ = std::make_unique<std::atomic<Bytes>[]>(shards);
}

MemoryTier::~MemoryTier() = default;

store::ObjectPtr MemoryTier::find(std::string_view key, Fingerprint primary) const {
    auto& shard = this->shard(primary);
    MutexLock const lock(shard.mutex);
    return store::ObjectPtr(find(shard, key).object);
}

store::ObjectPtr MemoryTier::drop_parts(Shard& shard, std::string_view url, policy::Left why) const {
    auto const found = find(shard, parts_text(url));
    return found ? shard.remove(found.slot, why) : nullptr;
}

bool MemoryTier::walk(Walk& walk, std::vector<store::ObjectPtr>& into) const {
    if (walk.shard >= shards_.size()) return false;
    auto& shard = *shards_[walk.shard];
    MutexLock const lock(shard.mutex);
    bool const more = shard.collect(walk.slot, walk_step, into);
    walk = more ? Walk{walk.shard, walk.slot + walk_step} : Walk{walk.shard + 1, 0};
    return walk.shard < shards_.size();
}

std::vector<std::string> MemoryTier::fetches() const {
    std::vector<std::string> keys;
    for (auto const& shard : shards_) {
        MutexLock const lock(shard->mutex);
        for (auto const& [primary, url] : shard->urls)
            for (auto const& fill : url.fills) keys.emplace_back(fill->key());
    }
    return keys;
}

// ---- operation ----

Stats MemoryTier::stats() const {
    Stats stats;
    stats.capacity = budget_.capacity();
    stats.used = budget_.used();
    stats.filling = budget_.filling();
    stats.filling_capacity = budget_.filling_capacity();
    for (auto const& shard : shards_) {
        MutexLock const lock(shard->mutex);
        stats.cached += shard->bytes();
        stats.objects += shard->objects();
        for (auto const& [primary, url] : shard->urls) {
            stats.fills += url.fills.size();
            for (auto const& fill : url.fills) stats.followers += fill->followers();
        }
        stats.metadata += shard->charged;
    }
    stats.metadata += failures_.bytes();
    {
        MutexLock const lock(policy_mutex_);
        stats.policy = policy_;
    }
    stats.pinned = pinned();
    stats.failures = failures_.size();
    stats.evictions = evictions_.load(std::memory_order_relaxed);
    stats.refused_for_room = refused_for_room_.load(std::memory_order_relaxed);
    stats.not_admitted = not_admitted_.load(std::memory_order_relaxed);
    return stats;
}

void MemoryTier::pass_locks() const {
    for (auto const& shard : shards_) MutexLock const lock(shard->mutex);
}

void MemoryTier::renew_policy(std::size_t index, std::span<Fingerprint const> most_valuable) {
    auto& shard = *shards_[index];
    MutexLock const lock(shard.mutex);
    Options options;
    options.size = budget_.capacity();
    {
        MutexLock const policy_lock(policy_mutex_);
        options.policy = policy_;
    }
    shard.set_policy(make_policy(options, shards_.size(), seed_ + index), most_valuable);
    settle(shard, Fingerprint{index} << number_shift);
}

Bytes MemoryTier::least_size() const {
    constexpr Bytes of_one = 32 * KiB;
    return shards_.size() > 1 ? shards_.size() * of_one : 0;
}

void MemoryTier::forget_all() {
    for (std::size_t i = 0; i < shards_.size(); ++i) {
        std::vector<store::ObjectPtr> gone;
        auto& shard = *shards_[i];
        MutexLock const lock(shard.mutex);
        for (auto const& [primary, url] : shard.urls)
            for (auto const& fill : url.fills) fill->in_shard(shard.mutex).stored = false;
        shard.urls.clear();
        shard.touched.end();
        while (auto victim = shard.evict()) {
            if (is_marker(victim.get())) shard.drop_variants(fingerprint_of(victim->key()), gone);
            gone.push_back(std::move(victim));
        }
        note_bytes(shard, Fingerprint{i} << number_shift);
    }
    failures_.clear();
}

void MemoryTier::reconfigure(Options const& options) {
    object_max_.store(options.object_max, std::memory_order_relaxed);
    bool const is_smaller = options.size < budget_.capacity();
    budget_.set_capacity(options.size, filling_capacity(options));
    bool other_policy;
    {
        MutexLock const lock(policy_mutex_);
        other_policy = std::exchange(policy_, options.policy) != options.policy;
    }
    for (std::size_t i = 0; i < shards_.size(); ++i) {
        auto made = other_policy ? make_policy(options, shards_.size(), seed_ + i) : nullptr;
        auto& shard = *shards_[i];
        MutexLock const lock(shard.mutex);
        if (made)
            shard.set_policy(std::move(made));
        else
            shard.policy().set_capacity(options.size / shards_.size());
    }
    while (budget_.used() > budget_.capacity() && evict_one(0, Shard::Held::evicted)) {
    }
    for (std::size_t i = 0; i < shards_.size(); ++i) {
        auto made = is_smaller ? make_policy(options, shards_.size(), seed_ + i) : nullptr;
        MutexLock const lock(shards_[i]->mutex);
        // Otherwise the arrays sized for a large memory would fill a small one. Use counts restart if most objects
        // were evicted.
        if (made && shards_[i]->is_sparse()) shards_[i]->set_policy(std::move(made));
        settle(*shards_[i], Fingerprint{i} << number_shift);
    }
}

}   // namespace garner::cache
