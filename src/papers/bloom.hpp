// Bloom's filter (1970), and Fan's with counters (2000), from which can be taken out what was put in.
#pragma once
#include <vector>

#include "papers/bloom_places.hpp"
#include "crawl/huge_array.hpp"
#include "crawl/seen_cache.hpp"

namespace garner::papers {

/// What the filters that are made for a number of entries have in common.
struct BloomSettings {
    static std::span<policy::Setting const> declared();
    static BloomPlaces places(crawl::CacheOptions const&);   // by "k" and "fpr", for options.entries
};

/// One bit a place.
class BloomBits {
public:
    explicit BloomBits(BloomPlaces const& places) : places_(places), words_(places.places() / 64 + 1) {}

    bool holds(Fingerprint) const;
    void put(Fingerprint);
    /// Calls with each place that was not set before.
    template <class Visit>
    void put(Fingerprint url, Visit visit) {
        places_.each(url, [&](std::uint64_t place) {
            if (!is_set(place)) set(place), visit(place);
        });
    }
    bool is_set(std::uint64_t place) const { return words_[place / 64] >> place % 64 & 1; }
    void set(std::uint64_t place) { words_[place / 64] |= std::uint64_t{1} << place % 64; }
    void clear() { words_ = crawl::HugeArray<std::uint64_t>(words_.size()); }
    /// Calls with each place that is set, rising.
    template <class Visit>
    void each(Visit visit) const {
        for (std::size_t w = 0; w < words_.size(); ++w)
            for (auto word = words_[w]; word; word &= word - 1)
                visit(w * 64 + static_cast<unsigned>(__builtin_ctzll(word)));
    }
    void prefetch(Fingerprint url) const {
        places_.each(url, [&](std::uint64_t place) { __builtin_prefetch(&words_[place / 64]); });
    }
    std::uint64_t memory_bits() const { return words_.bytes() * 8; }

private:
    BloomPlaces places_;
    crawl::HugeArray<std::uint64_t> words_;
};

/// Four bits a place. What has counted to 15 once stays there: it may count more than it can say.
class BloomCounters {
public:
    explicit BloomCounters(BloomPlaces const& places) : places_(places), words_(places.places() / 16 + 1) {}

    bool holds(Fingerprint) const;
    void put(Fingerprint);
    void take_out(Fingerprint);   // what was put in
    void count_up(std::uint64_t place);
    void count_down(std::uint64_t place);
    void prefetch(Fingerprint url) const {
        places_.each(url, [&](std::uint64_t place) { __builtin_prefetch(&words_[place / 16]); });
    }
    std::uint64_t memory_bits() const { return words_.bytes() * 8; }

private:
    unsigned value(std::uint64_t place) const { return words_[place / 16] >> shift(place) & 15; }
    static unsigned shift(std::uint64_t place) { return 4 * static_cast<unsigned>(place % 16); }

    BloomPlaces places_;
    crawl::HugeArray<std::uint64_t> words_;
};

/// A filter that forgets nothing, as a cache: its false positives grow beyond what was asked for when more than `entries`
/// come.
template <class Filter>
class EverFilter final : public crawl::Batched<EverFilter<Filter>> {
public:
    explicit EverFilter(crawl::CacheOptions const& options) : entries_(options.entries), filter_(BloomSettings::places(options)) {}

    bool look(Fingerprint url) {
        if (filter_.holds(url)) return true;
        filter_.put(url);
        return false;
    }
    void prefetch(Fingerprint url) const { filter_.prefetch(url); }
    bool claims() const override { return true; }
    std::uint64_t entries() const override { return entries_; }
    std::uint64_t memory_bits() const override { return filter_.memory_bits(); }

private:
    std::uint64_t const entries_;
    Filter filter_;
};

}  // namespace garner::papers
