// LRU before a Stable Bloom Filter Light (Kubota, Ueda, Yamana, section 4.3): what LRU lets go, the filter remembers in
// few bits for a while longer.
#pragma once
#include "crawl/lru.hpp"
#include "papers/stable_bloom.hpp"

namespace garner::papers {

/// Put into the filter only what leaves LRU. A hit in LRU costs the filter nothing.
class LruLight final : public crawl::Batched<LruLight> {
public:
    explicit LruLight(crawl::CacheOptions const&);
    LruLight(std::uint64_t lru_entries, StableShape const& filter, std::uint64_t filter_entries, std::uint64_t seed)
        : lru_({.entries = lru_entries}), filter_(filter, filter_entries, seed) {}

    static std::span<policy::Setting const> declared();
    bool look(Fingerprint);
    void prefetch(Fingerprint url) const {
        lru_.prefetch(url);
        filter_.prefetch(url);
    }
    bool claims() const override { return true; }
    std::uint64_t entries() const override { return lru_.entries() + filter_.entries(); }
    std::uint64_t memory_bits() const override { return lru_.memory_bits() + filter_.memory_bits(); }

private:
    crawl::Lru lru_;
    StableBloomLight filter_;
};

}  // namespace garner::papers
