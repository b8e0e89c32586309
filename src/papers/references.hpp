// What no cache can do: INFINITE holds all, MIN knows what comes next, STATIC knew beforehand what is popular.
// Broder, Najork, Wiener 2003, sections 3.1, 3.2, 3.6.
#pragma once
#include <memory>
#include <vector>

#include "util/fingerprint_map.hpp"
#include "papers/foresight.hpp"
#include "crawl/seen_cache.hpp"

namespace garner::papers {

/// Holds every fingerprint there ever was: it misses each once.
class Infinite final : public crawl::Batched<Infinite> {
public:
    explicit Infinite(crawl::CacheOptions const&) {}

    bool look(Fingerprint url) {
        auto& number = seen_.at(url);
        bool const held = number == 0;
        number = 0;
        return held;
    }
    void prefetch(Fingerprint url) const { seen_.prefetch(url); }
    std::uint64_t entries() const override { return seen_.size(); }
    std::uint64_t memory_bits() const override { return seen_.memory_bits(); }

private:
    FingerprintMap seen_;
};

/// Belady's: who will not be asked for the longest leaves, and a newcomer always comes in. Takes the stream of its
/// foresight, from its beginning, once.
class Min final : public crawl::Batched<Min> {
public:
    explicit Min(crawl::CacheOptions const&);

    bool look(Fingerprint);
    void prefetch(Fingerprint url) const { index_.prefetch(url); }
    std::uint64_t entries() const override { return entries_; }
    std::uint64_t memory_bits() const override;

private:
    using Place = std::uint32_t;   // in the heap
    struct Entry {
        Fingerprint url;
        Foresight::Time next_use;
    };
    void rise(Place, Entry);
    void sink(Place, Entry);

    std::uint32_t const entries_;
    std::shared_ptr<Foresight const> const foresight_;
    std::size_t now_ = 0;
    FingerprintMap index_;         // the place of each
    std::vector<Entry> heap_;      // the farthest next use on top
};

/// The most popular of the whole stream from the beginning, and nothing else ever.
class Static final : public crawl::Batched<Static> {
public:
    explicit Static(crawl::CacheOptions const&);

    bool look(Fingerprint url) { return held_.find(url) != FingerprintMap::none; }
    void prefetch(Fingerprint url) const { held_.prefetch(url); }
    std::uint64_t entries() const override { return entries_; }
    std::uint64_t memory_bits() const override { return held_.memory_bits(); }

private:
    std::uint64_t const entries_;
    FingerprintMap held_;
};

}  // namespace garner::papers
