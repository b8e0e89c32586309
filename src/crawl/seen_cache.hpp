// The interface of caches of recently seen URLs.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "policy/options.hpp"
#include "util/hash.hpp"
#include "util/result.hpp"

namespace garner::papers {
class Foresight;
}

namespace garner::crawl {

/// Used in front of the exact set of all URLs: a hit need not be looked up there. A cache may forget; an exact one
/// has no false positives, the others have few. One instance per thread: no thread safety, no I/O, no clock.
/// Deterministic for a seed and a sequence of calls.
class SeenCache {
public:
    virtual ~SeenCache() = default;

    /// True when the fingerprint is held. Counts as a use in either case: afterwards it is held, unless the policy
    /// rejects it, and another one may have been evicted for it.
    bool seen(Fingerprint url) {
        std::uint8_t answer = 0;
        seen_each({&url, 1}, {&answer, 1});
        return answer != 0;
    }
    /// Equals seen() of each in turn, but is faster: answers[i] becomes 1 or 0. `answers` has one element per
    /// fingerprint.
    virtual void seen_each(std::span<Fingerprint const>, std::span<std::uint8_t> answers) = 0;

    /// Whether false positives are possible: in front of an exact set such a URL is lost.
    virtual bool claims() const { return false; }
    /// Capacity in fingerprints; for an unbounded cache, the number held.
    virtual std::uint64_t entries() const = 0;
    /// Memory allocated for the entries: keys, links, marks, index and order.
    virtual std::uint64_t memory_bits() const = 0;
};

inline constexpr std::uint64_t cache_entries_max = std::uint64_t{1} << 31;

/// Options of a cache.
struct CacheOptions {
    std::uint64_t entries = 0;   // from 1 to cache_entries_max; ignored by unbounded caches
    std::uint64_t seed = 1;
    std::vector<double> values = {};                           // the cache's settings, in their order; empty: all defaults
    std::shared_ptr<papers::Foresight const> foresight = {};   // knowledge of the whole stream, for reference policies in
                                                               // simulations

    double value(std::span<policy::Setting const> declared, std::size_t index) const {
        return index < values.size() ? values[index] : declared[index].initial;
    }
};

/// The fault names the number that does not fit; the suggested fix names the next ones that do.
using MadeCache = Result<std::unique_ptr<SeenCache>>;

/// Implements seen_each() for a cache. The cache has look(Fingerprint), its seen() for one, and prefetch(Fingerprint)
/// const, which prefetches the memory that look() touches first.
template <class Cache>
class Batched : public SeenCache {
public:
    void seen_each(std::span<Fingerprint const> urls, std::span<std::uint8_t> answers) final {
        auto const ahead = urls.size() < prefetched ? urls.size() : prefetched;
        for (std::size_t i = 0; i < ahead; ++i) self().prefetch(urls[i]);
        auto const last = urls.size() - ahead;
        for (std::size_t i = 0; i < last; ++i) {
            self().prefetch(urls[i + ahead]);
            answers[i] = self().look(urls[i]);
        }
        for (std::size_t i = last; i < urls.size(); ++i) answers[i] = self().look(urls[i]);
    }

private:
    // About the number of cache misses that the processor can have in flight.
    static constexpr std::size_t prefetched = 24;

    Cache& self() { return static_cast<Cache&>(*this); }
};

}   // namespace garner::crawl
