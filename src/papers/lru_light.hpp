// LRU in front of a Stable Bloom Filter Light (Kubota, Ueda, Yamana, section 4.3): the filter remembers LRU's victims
// for longer, in few bits each.
#pragma once
#include <cmath>

#include "crawl/lru_cache.hpp"
#include "papers/stable_bloom.hpp"

namespace garner::papers {

/// Only LRU's victims are inserted into the filter. A hit in LRU costs the filter nothing.
class LruLight final : public crawl::Batched<LruLight> {
public:
    static constexpr std::array settings{
        StableShape::settings[0],
        StableShape::settings[1],
        StableShape::settings[2],
        policy::Setting{"lru", "LRU's share of the entries", 0.1, 0, 1},
    };

    explicit LruLight(crawl::CacheOptions const& options)
        : LruLight(lru_share(options), StableShape::of(filter_options(options)), filter_options(options).entries, options.seed) {}
    LruLight(std::uint64_t lru_entries, StableShape const& filter, std::uint64_t filter_entries, std::uint64_t seed)
        : lru_({.entries = lru_entries}), filter_(filter, filter_entries, seed) {}

    bool look(Fingerprint url) {
        auto const use = lru_.use(url);
        if (use.held) return true;
        // Looked up before this request's victim is inserted.
        bool const held = filter_.holds(url);
        if (use.left) filter_.put(*use.left);
        return held;
    }
    void prefetch(Fingerprint url) const {
        lru_.prefetch(url);
        filter_.prefetch(url);
    }
    bool claims() const override { return true; }
    std::uint64_t entries() const override { return lru_.entries() + filter_.entries(); }
    std::uint64_t memory_bits() const override { return lru_.memory_bits() + filter_.memory_bits(); }

private:
    static std::uint64_t lru_share(crawl::CacheOptions const& options) {
        auto const entries = std::llround(options.value(settings, 3) * static_cast<double>(options.entries));
        return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(entries));
    }
    /// The options of the filter, which has the remaining entries, at least one.
    static crawl::CacheOptions filter_options(crawl::CacheOptions options) {
        options.entries = std::max<std::uint64_t>(1, options.entries - std::min(options.entries, lru_share(options)));
        return options;
    }

    crawl::Lru lru_;
    StableBloomLight filter_;
};

}   // namespace garner::papers
