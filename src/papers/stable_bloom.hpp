// The Stable Bloom Filter (Deng, Rafiei 2006) and the Stable Bloom Filter Light (Kubota, Ueda, Yamana): counters of two
// bits of which some are decremented with each insertion, so that old ones are forgotten and false positives come to rest.
#pragma once
#include <random>

#include "papers/bloom_places.hpp"
#include "crawl/seen_cache.hpp"
#include "papers/small_counters.hpp"

namespace garner::papers {

struct StableShape {
    std::uint64_t counters = 0;
    unsigned hashes = 0, decrements = 0;   // k and p of the paper

    static std::span<policy::Setting const> declared();
    /// By "k" and "fpr" (p by equation 3.3, rounded up), or "p" where given. So many counters that the last
    /// options.entries insertions are remembered for sure: a counter set to 3 lasts two rounds of counters / p at least.
    static StableShape of(crawl::CacheOptions const&);
};

/// Decrements at random, with the Mersenne Twister as in the paper: not every one of the last `entries` is remembered.
class RandomDecrement {
public:
    explicit RandomDecrement(std::uint64_t seed) : random_(static_cast<std::mt19937::result_type>(seed)) {}
    void decrement(SmallCounters& counters, unsigned count) {
        for (; count > 0; --count) counters.decrement((std::uint64_t{random_()} * counters.size()) >> 32);
    }

private:
    std::mt19937 random_;
};

/// Decrements in turn.
class CyclicDecrement {
public:
    explicit CyclicDecrement(std::uint64_t) {}
    void decrement(SmallCounters& counters, unsigned count) { next_ = counters.decrement(next_, count); }

private:
    std::uint64_t next_ = 0;
};

template <class Decrement>
class StableFilter final : public crawl::Batched<StableFilter<Decrement>> {
public:
    explicit StableFilter(crawl::CacheOptions const& options)
        : StableFilter(StableShape::of(options), options.entries, options.seed) {}
    StableFilter(StableShape const& shape, std::uint64_t entries, std::uint64_t seed)
        : entries_(entries), decrements_(shape.decrements), decrement_(seed), counters_(shape.counters),
          places_(counters_.size(), shape.hashes, seed) {}

    bool look(Fingerprint url) {
        bool const held = holds(url);
        put(url);
        return held;
    }
    bool holds(Fingerprint url) const {
        bool all = true;
        places_.each(url, [&](std::uint64_t place) { all &= counters_.value(place) > 0; });
        return all;
    }
    void put(Fingerprint url) {
        decrement_.decrement(counters_, decrements_);
        places_.each(url, [&](std::uint64_t place) { counters_.set(place, SmallCounters::highest); });
    }
    void prefetch(Fingerprint url) const {
        places_.each(url, [&](std::uint64_t place) { counters_.prefetch(place); });
    }
    bool claims() const override { return true; }
    std::uint64_t entries() const override { return entries_; }
    std::uint64_t memory_bits() const override { return counters_.memory_bits(); }

private:
    std::uint64_t const entries_;
    unsigned const decrements_;
    Decrement decrement_;
    SmallCounters counters_;
    BloomPlaces places_;
};

using StableBloom = StableFilter<RandomDecrement>;
using StableBloomLight = StableFilter<CyclicDecrement>;

}  // namespace garner::papers
