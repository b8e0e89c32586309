// The seam for caches of seen URLs: which fingerprints came by lately.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "policy/options.hpp"
#include "util/hash.hpp"

namespace garner::papers {
class Foresight;
}

namespace garner::crawl {

/// Stands before the exact set of all URLs: what it knows need not be asked there. It may forget; an exact one never
/// claims to have seen what it has not, the others seldom do. One instance per thread: no thread-safety of its own, no
/// I/O, no clock. Deterministic for a seed and a sequence of calls.
class SeenCache {
public:
    virtual ~SeenCache() = default;

    /// True when the fingerprint is held. A use in either case: from now on it is held, unless the policy lets nothing
    /// in, and another one may have left for it.
    bool seen(Fingerprint url) {
        std::uint8_t answer = 0;
        seen_each({&url, 1}, {&answer, 1});
        return answer != 0;
    }
    /// As seen() of each in turn, at a lower cost: answers[i] becomes 1 or 0. As many answers as fingerprints.
    virtual void seen_each(std::span<Fingerprint const>, std::span<std::uint8_t> answers) = 0;

    /// Whether it may say "seen" of what never came: before an exact set such a URL is lost.
    virtual bool claims() const { return false; }
    /// How many fingerprints fit; of one without bound, how many it holds.
    virtual std::uint64_t entries() const = 0;
    /// What is allocated for them: keys, links, marks, whatever finds and orders them.
    virtual std::uint64_t memory_bits() const = 0;
};

inline constexpr std::uint64_t cache_entries_max = std::uint64_t{1} << 31;

/// What a cache is made with.
struct CacheOptions {
    std::uint64_t entries = 0;                       // from 1 to cache_entries_max; ignored by what has no bound
    std::uint64_t seed = 1;
    std::vector<double> values = {};                 // of the cache's settings, in their order; empty: all initial
    std::shared_ptr<papers::Foresight const> foresight = {};   // of the whole stream, for references in simulations

    double value(std::span<policy::Setting const> declared, std::size_t index) const {
        return index < values.size() ? values[index] : declared[index].initial;
    }
};

/// A cache, or why there is none: one line that names the number that does not fit and the next ones that do.
struct MadeCache {
    std::unique_ptr<SeenCache> cache;
    std::string fault;
};

/// Gives a cache its seen_each(). It has look(Fingerprint), the seen() of one, and prefetch(Fingerprint) const, which asks memory
/// for what look() will touch first.
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
    // How many lines memory can have under way at once, and some more.
    static constexpr std::size_t prefetched = 24;

    Cache& self() { return static_cast<Cache&>(*this); }
};

}  // namespace garner::crawl
