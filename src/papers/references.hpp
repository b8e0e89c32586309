// Reference policies that real caches cannot match: INFINITE holds all, MIN knows the future, STATIC knows the most
// popular in advance. Broder, Najork, Wiener 2003, sections 3.1, 3.2, 3.6.
#pragma once
#include <algorithm>
#include <memory>
#include <vector>

#include "crawl/seen_cache.hpp"
#include "papers/foresight.hpp"
#include "util/fingerprint_map.hpp"

namespace garner::papers {

/// Holds every fingerprint: one miss for each.
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

/// Belady's MIN: evicts the fingerprint whose next request is farthest in the future, and always admits. Replays the
/// stream of its foresight once, from the beginning.
class Min final : public crawl::Batched<Min> {
public:
    explicit Min(crawl::CacheOptions const& options)
        : entries_(static_cast<std::uint32_t>(options.entries)), foresight_(options.foresight) {
        check(foresight_ != nullptr);
        // The stream may have fewer fingerprints than fit.
        heap_.reserve(std::min<std::uint64_t>(entries_, foresight_->distinct()));
    }

    bool look(Fingerprint url) {
        check(now_ < foresight_->next_uses().size());
        Entry const entry{url, foresight_->next_uses()[now_++]};
        auto const index = index_.find(url);
        if (index != FingerprintMap::none) {
            rise(index, entry);   // its next use is now, before all others
            return true;
        }
        if (heap_.size() < entries_) {
            heap_.push_back(entry);
            index_.at(url) = unplaced;
            rise(static_cast<std::uint32_t>(heap_.size() - 1), entry);
        } else {
            index_.erase(heap_.front().url);
            index_.at(url) = unplaced;
            sink(0, entry);
        }
        return false;
    }
    void prefetch(Fingerprint url) const { index_.prefetch(url); }
    std::uint64_t entries() const override { return entries_; }
    std::uint64_t memory_bits() const override { return index_.memory_bits() + heap_.capacity() * 8 * sizeof(Entry); }

private:
    static constexpr std::uint32_t unplaced = FingerprintMap::none - 1;
    struct Entry {
        Fingerprint url;
        Foresight::Time next_use;
    };

    void rise(std::uint32_t at, Entry entry) {
        for (; at > 0 && heap_[(at - 1) / 2].next_use < entry.next_use; at = (at - 1) / 2) put(at, heap_[(at - 1) / 2]);
        put(at, entry);
    }
    void sink(std::uint32_t at, Entry entry) {
        for (;;) {
            auto below = 2 * std::size_t{at} + 1;
            if (below >= heap_.size()) break;
            if (below + 1 < heap_.size() && heap_[below + 1].next_use > heap_[below].next_use) ++below;
            if (heap_[below].next_use <= entry.next_use) break;
            put(at, heap_[below]);
            at = static_cast<std::uint32_t>(below);
        }
        put(at, entry);
    }
    void put(std::uint32_t at, Entry entry) {
        heap_[at] = entry;
        index_.at(entry.url) = at;
    }

    std::uint32_t const entries_;
    std::shared_ptr<Foresight const> const foresight_;
    std::size_t now_ = 0;
    FingerprintMap index_;      // the index of each in the heap
    std::vector<Entry> heap_;   // the farthest next use on top
};

/// Holds the most popular fingerprints of the whole stream from the beginning, and admits none.
class Static final : public crawl::Batched<Static> {
public:
    explicit Static(crawl::CacheOptions const& options) : entries_(options.entries) {
        check(options.foresight != nullptr);
        for (auto url : options.foresight->most_popular(entries_)) held_.at(url) = 0;
    }

    bool look(Fingerprint url) { return held_.find(url) != FingerprintMap::none; }
    void prefetch(Fingerprint url) const { held_.prefetch(url); }
    std::uint64_t entries() const override { return entries_; }
    std::uint64_t memory_bits() const override { return held_.memory_bits(); }

private:
    std::uint64_t const entries_;
    FingerprintMap held_;
};

}   // namespace garner::papers
