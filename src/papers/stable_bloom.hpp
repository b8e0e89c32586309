// The Stable Bloom Filter (Deng, Rafiei 2006) and the Stable Bloom Filter Light (Kubota, Ueda, Yamana). Some of their
// 2-bit counters are decremented at each insertion, so that old entries are forgotten and the false positive rate
// converges.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "crawl/seen_cache.hpp"
#include "papers/bloom_positions.hpp"
#include "papers/packed_counters.hpp"

namespace garner::papers {

using SmallCounters = Counters<2>;

/// The number of random counters decremented at each insertion for which the false positive rate converges to that
/// value (Deng, Rafiei 2006; equation 3.3 of Kubota, Ueda, Yamana). `most` is the counters' highest value.
inline double stable_decrements(double false_positives, double hashes, double most, double counters) {
    auto const zero = 1 - std::pow(false_positives, 1 / hashes);   // share of zero counters
    return 1 / ((std::pow(zero, -1 / most) - 1) * (1 / hashes - 1 / counters));
}

struct StableShape {
    std::uint64_t counters = 0;
    unsigned hashes = 0, decrements = 0;   // k and p of the paper

    static constexpr std::array settings{
        policy::Setting{"k", "number of hashes", 4, 1, 16},
        policy::Setting{"fpr", "false positive rate at the stable point, by equation 3.3", 0.01, 1e-9, 0.5},
        policy::Setting{"p", "counters decremented at each insertion; 0: by fpr", 0, 0, 100'000},
    };
    /// From "k" and "fpr" (p by equation 3.3, rounded up), or from "p" if set. The number of counters guarantees that
    /// the last options.entries insertions are remembered: a counter set to 3 lasts at least two rounds of counters /
    /// p.
    static StableShape of(crawl::CacheOptions const& options) {
        auto const hashes = std::round(options.value(settings, 0));
        auto decrements = std::round(options.value(settings, 2));
        // With this many counters their number has no effect in the equation.
        if (decrements == 0)
            decrements = std::ceil(stable_decrements(options.value(settings, 1), hashes, SmallCounters::highest, 1e12));
        auto const counters = std::ceil(static_cast<double>(options.entries) * decrements / (SmallCounters::highest - 1));
        return {.counters = std::max<std::uint64_t>(static_cast<std::uint64_t>(counters), SmallCounters::per_word),
                .hashes = static_cast<unsigned>(hashes),
                .decrements = static_cast<unsigned>(decrements)};
    }
};

/// Random decrements with the Mersenne Twister, as in the paper: some of the last `entries` may be forgotten.
class RandomDecrement {
public:
    explicit RandomDecrement(std::uint64_t seed) : random_(static_cast<std::mt19937::result_type>(seed)) {}
    void decrement(SmallCounters& counters, unsigned count) {
        for (; count > 0; --count) counters.decrement((std::uint64_t{random_()} * counters.size()) >> 32);
    }

private:
    std::mt19937 random_;
};

/// Decrements in turn. Branch-free: subtracts 1 from each counter with any bit set.
class CyclicDecrement {
public:
    explicit CyclicDecrement(std::uint64_t = 0) {}
    void decrement(SmallCounters& counters, std::uint64_t count) {
        constexpr std::uint64_t per_word = SmallCounters::per_word;
        while (count > 0) {
            auto const offset = next_ % per_word, here = std::min(count, per_word - offset);
            auto const mask = (here == per_word ? ~std::uint64_t{0} : (std::uint64_t{1} << 2 * here) - 1) << 2 * offset;
            auto& word = counters.words()[next_ / per_word];
            word -= (word | word >> 1) & 0x5555555555555555 & mask;
            count -= here;
            next_ += here;
            if (next_ == counters.size()) next_ = 0;
        }
    }

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
          positions_(counters_.size(), shape.hashes, seed) {}

    bool look(Fingerprint url) {
        bool const held = holds(url);
        put(url);
        return held;
    }
    bool holds(Fingerprint url) const {
        bool all = true;
        positions_.each(url, [&](std::uint64_t position) { all &= counters_.value(position) > 0; });
        return all;
    }
    void put(Fingerprint url) {
        decrement_.decrement(counters_, decrements_);
        positions_.each(url, [&](std::uint64_t position) { counters_.set(position, SmallCounters::highest); });
    }
    void prefetch(Fingerprint url) const {
        positions_.each(url, [&](std::uint64_t position) { counters_.prefetch(position); });
    }
    bool claims() const override { return true; }
    std::uint64_t entries() const override { return entries_; }
    std::uint64_t memory_bits() const override { return counters_.memory_bits(); }

private:
    std::uint64_t const entries_;
    unsigned const decrements_;
    Decrement decrement_;
    SmallCounters counters_;
    BloomPositions positions_;
};

using StableBloom = StableFilter<RandomDecrement>;
using StableBloomLight = StableFilter<CyclicDecrement>;

}   // namespace garner::papers
