#include "cache/negative.hpp"

#include <algorithm>

#include "cache/cache.hpp"
#include "util/random_bits.hpp"

namespace garner::cache {

milliseconds remembered_for(NegativeTerms const& terms, std::uint32_t failures) {
    constexpr std::uint32_t doublings_max = 20;
    auto doublings = std::min(std::max(failures, 1u) - 1, doublings_max);
    return std::min(terms.first * (1 << doublings), terms.most);
}

namespace {

Bytes bytes_of(std::string const& text) {
    static std::size_t const within = std::string().capacity();   // the small-string capacity
    return text.capacity() > within ? heap_block(text.capacity() + 1) : 0;
}

}   // namespace

NegativeCache::NegativeCache(std::size_t entries_max, store::Budget* budget)
    : seeds_{random_bits(), random_bits()}, sets_(std::max<std::size_t>(1, entries_max / (shards_max * entries_per_set))),
      budget_(budget), shards_(new Shard[shards_max]) {}

std::optional<KnownFailure> NegativeCache::find(Key const& key, SteadyTime now, std::optional<Witness> const& asker) {
    if (empty()) return std::nullopt;
    auto id = identity(key);
    auto& shard = shard_of(id);
    MutexLock const lock(shard.mutex);
    auto const* entry = find_entry(shard, id, now);
    bool const is_others = entry && entry->only_witness && entry->only_witness != asker;
    return is_others ? std::nullopt : known(entry, now);
}

std::optional<KnownFailure> NegativeCache::peek(Key const& key, SteadyTime now) const {
    if (empty()) return std::nullopt;
    auto id = identity(key);
    auto& shard = shard_of(id);
    MutexLock const lock(shard.mutex);
    return known(entry_of(shard, id), now);
}

std::optional<KnownFailure> NegativeCache::known(Entry const* entry, SteadyTime now) {
    if (!entry || now >= entry->until) return std::nullopt;
    return KnownFailure{entry->failure, entry->of_head_only, std::chrono::ceil<milliseconds>(entry->until - now),
                        entry->only_witness};
}

bool NegativeCache::remember(Key const& key, FetchFailure const& failure, bool of_head_only, NegativeTerms const& terms,
                             SteadyTime now, std::optional<Witness> const& witness) {
    if (terms.most <= milliseconds::zero()) return !witness;
    auto id = identity(key);
    auto& shard = shard_of(id);
    MutexLock const lock(shard.mutex);
    auto* known = find_entry(shard, id, now);
    bool const counts = known && now < known->until;
    bool const remembered = counts && !known->only_witness;
    if (remembered && witness) return of_head_only || !known->of_head_only;
    bool const confirmed = !witness || (counts && known->only_witness && known->only_witness->client != witness->client);
    if (counts && !remembered && !confirmed) return false;
    auto* entry = known ? known : take_entry(shard, id, witness, now);
    if (!entry) return !witness;
    // A single client must not extend the negative entry for others.
    if (confirmed && !remembered) ++entry->failures;
    entry->only_witness = confirmed ? std::nullopt : witness;
    entry->of_head_only = of_head_only && (!remembered || entry->of_head_only);
    entry->until = now + remembered_for(terms, entry->failures);
    entry->counts_until = entry->until + terms.most;
    entry->failure.status = failure.status;
    entry->failure.kind = failure.kind;
    keep_words(*entry, failure.reason);
    return confirmed;
}

bool NegativeCache::forget(Key const& key, SteadyTime now) {
    if (empty()) return false;
    auto id = identity(key);
    auto& shard = shard_of(id);
    MutexLock const lock(shard.mutex);
    auto* entry = find_entry(shard, id, now);
    if (!entry) return false;
    bool const remembered = now < entry->until;
    release(*entry);
    return remembered;
}

void NegativeCache::clear() {
    for (std::size_t i = 0; i < shards_max; ++i) {
        auto& shard = shards_[i];
        MutexLock const lock(shard.mutex);
        for (auto& entry : shard.entries) release(entry);
    }
}

std::vector<NegativeCache::Handed> NegativeCache::handed(SteadyTime now) const {
    std::vector<Handed> all;
    for (std::size_t i = 0; i < shards_max; ++i) {
        auto& shard = shards_[i];
        MutexLock const lock(shard.mutex);
        for (auto const& entry : shard.entries) {
            if (!entry.taken || entry.only_witness || now >= entry.counts_until) continue;
            auto const left = std::max(entry.until - now, SteadyTime::duration::zero());
            all.push_back({.key = entry.key.primary,
                           .second = entry.key.second,
                           .failures = entry.failures,
                           .of_head_only = entry.of_head_only,
                           .left = std::chrono::ceil<milliseconds>(left),
                           .counts_left = std::chrono::ceil<milliseconds>(entry.counts_until - now),
                           .failure = entry.failure});
        }
    }
    return all;
}

void NegativeCache::adopt(Seeds const& seeds, std::span<Handed const> failures, SteadyTime now) {
    seeds_ = seeds;
    for (auto const& one : failures) {
        Identity const key{one.key, one.second};
        auto& shard = shard_of(key);
        MutexLock const lock(shard.mutex);
        auto* const entry = take_entry(shard, key, std::nullopt, now);
        if (!entry) return;
        entry->failures = one.failures;
        entry->of_head_only = one.of_head_only;
        entry->until = now + one.left;
        entry->counts_until = now + one.counts_left;
        entry->failure.status = one.failure.status;
        entry->failure.kind = one.failure.kind;
        keep_words(*entry, one.failure.reason);
    }
}

NegativeCache::Identity NegativeCache::identity(Key const& key) const {
    return {fingerprint(key.text, seeds_[0]), fingerprint(key.text, seeds_[1])};
}

NegativeCache::Entry* NegativeCache::set_of(Shard& shard, Identity const& key) const {
    return shard.entries.data() + key.second % sets_ * entries_per_set;
}

NegativeCache::Entry* NegativeCache::entry_of(Shard& shard, Identity const& key) const {
    if (shard.entries.empty()) return nullptr;
    auto* set = set_of(shard, key);
    auto* found = std::find_if(set, set + entries_per_set, [&](Entry const& entry) { return entry.taken && entry.key == key; });
    return found == set + entries_per_set ? nullptr : found;
}

/// The key's entry; an expired one is released first.
NegativeCache::Entry* NegativeCache::find_entry(Shard& shard, Identity const& key, SteadyTime now) {
    auto* found = entry_of(shard, key);
    if (!found || now < found->counts_until) return found;
    release(*found);
    return nullptr;
}

/// A free entry, or the one that expires first; none without room. A failure of one client's own request never
/// displaces an entry that applies to all clients.
NegativeCache::Entry* NegativeCache::take_entry(Shard& shard, Identity const& key, std::optional<Witness> const& witness,
                                                SteadyTime now) {
    if (shard.entries.empty()) {
        if (!take(bytes_of_entries())) return nullptr;
        shard.entries.resize(sets_ * entries_per_set);
    }
    auto* set = set_of(shard, key);
    auto& entry = *std::min_element(set, set + entries_per_set, [](Entry const& a, Entry const& b) {
        if (a.taken != b.taken) return !a.taken;
        if (a.only_witness.has_value() != b.only_witness.has_value()) return a.only_witness.has_value();
        return a.until < b.until;
    });
    bool const counts_for_all = entry.taken && !entry.only_witness && now < entry.until;
    if (witness && counts_for_all) return nullptr;
    release(entry);
    size_.fetch_add(1, std::memory_order_relaxed);
    entry.key = key;
    entry.taken = true;
    return &entry;
}

void NegativeCache::release(Entry& entry) {
    if (entry.taken) size_.fetch_sub(1, std::memory_order_relaxed);
    keep_words(entry, {});
    entry = {};
}

/// Without room the reason is dropped: the status alone is worth keeping.
void NegativeCache::keep_words(Entry& entry, std::string const& reason) {
    give_back(bytes_of(entry.failure.reason));
    std::string words(reason, 0, reason_max);
    if (!take(bytes_of(words))) words = std::string();
    entry.failure.reason.swap(words);
}

Bytes NegativeCache::most_growth(Key const& key, FetchFailure const& failure) const {
    auto& shard = shard_of(identity(key));
    MutexLock const lock(shard.mutex);
    auto const words = heap_block(std::min(failure.reason.size(), reason_max) + 1);
    return words + (shard.entries.empty() ? bytes_of_entries() : 0);
}

bool NegativeCache::take(Bytes bytes) {
    if (budget_ && bytes > 0 && !budget_->reserve(bytes)) return false;
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
    return true;
}

void NegativeCache::give_back(Bytes bytes) {
    if (budget_) budget_->release(bytes);
    bytes_.fetch_sub(bytes, std::memory_order_relaxed);
}

}   // namespace garner::cache
