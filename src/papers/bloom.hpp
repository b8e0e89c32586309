// Bloom filters (Bloom 1970), and counting Bloom filters (Fan 2000), which support removal.
#pragma once
#include <array>
#include <bit>
#include <cmath>

#include "crawl/seen_cache.hpp"
#include "papers/bloom_positions.hpp"
#include "papers/packed_counters.hpp"

namespace garner::papers {

/// Bits for this many entries at this false positive rate.
inline double bloom_bits(double entries, double hashes, double false_positives) {
    return -hashes * entries / std::log1p(-std::pow(false_positives, 1 / hashes));
}

/// Settings of filters dimensioned for a number of entries.
struct BloomSettings {
    static constexpr std::array settings{
        policy::Setting{"k", "number of hashes", 4, 1, 16},
        policy::Setting{"fpr", "false positive rate with `entries` URLs", 0.01, 1e-9, 0.5},
    };
    static BloomPositions positions(crawl::CacheOptions const& options) {
        auto const hashes = std::round(options.value(settings, 0));
        auto const bits = bloom_bits(static_cast<double>(options.entries), hashes, options.value(settings, 1));
        return {static_cast<std::uint64_t>(std::ceil(bits)), static_cast<unsigned>(hashes), options.seed};
    }
};

/// A saturated counter stays at its maximum, because its true count is unknown.
template <unsigned bits>
class BloomFilter {
public:
    explicit BloomFilter(BloomPositions const& positions) : positions_(positions), counters_(positions.count() + 1) {}

    bool holds(Fingerprint url) const {
        bool all = true;
        positions_.each(url, [&](std::uint64_t position) { all &= counters_.value(position) > 0; });
        return all;
    }
    void put(Fingerprint url) {
        positions_.each(url, [&](std::uint64_t position) { count_up(position); });
    }
    /// Calls `visit` with each position that is incremented from 0.
    template <class Visit>
    void put(Fingerprint url, Visit visit) {
        positions_.each(url, [&](std::uint64_t position) {
            if (counters_.value(position) == 0) visit(position);
            count_up(position);
        });
    }
    /// Removes a fingerprint that was inserted.
    void take_out(Fingerprint url) {
        positions_.each(url, [&](std::uint64_t position) { count_down(position); });
    }
    void count_up(std::uint64_t position) { counters_.increment(position); }
    void count_down(std::uint64_t position) {
        if (counters_.value(position) < counters_.highest) counters_.decrement(position);
    }
    /// Calls `visit` with each nonzero position, ascending, and clears them.
    template <class Visit>
    void clear(Visit visit) requires(bits == 1) {
        auto const words = counters_.words();
        for (std::size_t w = 0; w < words.size(); ++w)
            for (auto word = words[w]; word; word &= word - 1) visit(w * 64 + static_cast<unsigned>(std::countr_zero(word)));
        clear();
    }
    void clear() { counters_.clear(); }
    void prefetch(Fingerprint url) const {
        positions_.each(url, [&](std::uint64_t position) { counters_.prefetch(position); });
    }
    std::uint64_t memory_bits() const { return counters_.memory_bits(); }

private:
    BloomPositions positions_;
    Counters<bits> counters_;
};

using BloomBits = BloomFilter<1>;
using BloomCounters = BloomFilter<4>;

/// A cache that consists of one filter. `Cache` has look().
template <class Cache, class Filter>
class FilterCache : public crawl::Batched<Cache> {
public:
    explicit FilterCache(crawl::CacheOptions const& options)
        : entries_(options.entries), filter_(BloomSettings::positions(options)) {}

    void prefetch(Fingerprint url) const { filter_.prefetch(url); }
    bool claims() const override { return true; }
    std::uint64_t entries() const override { return entries_; }
    std::uint64_t memory_bits() const override { return filter_.memory_bits(); }

protected:
    bool put_unless_held(Fingerprint url) {
        bool const held = filter_.holds(url);
        if (!held) filter_.put(url);
        return held;
    }

    std::uint64_t const entries_;
    Filter filter_;
};

/// Never forgets: false positives exceed the configured rate after more than `entries` insertions.
template <class Filter>
class EverFilter final : public FilterCache<EverFilter<Filter>, Filter> {
public:
    using FilterCache<EverFilter<Filter>, Filter>::FilterCache;
    bool look(Fingerprint url) { return this->put_unless_held(url); }
};

}   // namespace garner::papers
