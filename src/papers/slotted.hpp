// CLOCK and RANDOM over an array of fingerprints with a separate index, as in the paper's simulations.
#pragma once
#include <vector>

#include "crawl/seen_cache.hpp"
#include "papers/hand.hpp"
#include "util/fingerprint_map.hpp"

namespace garner::papers {

/// Broder, Najork, Wiener 2003, section 5.1. Slots are filled in order; then the hand chooses the victim.
template <class Hand>
class Slotted final : public crawl::Batched<Slotted<Hand>> {
public:
    explicit Slotted(crawl::CacheOptions const& options)
        : entries_(options.entries), index_(entries_), marks_(Hand::marks ? entries_ : 0), hand_(entries_, options.seed) {
        urls_.reserve(entries_);
    }

    bool look(Fingerprint url) {
        auto const slot = index_.find(url);
        if (slot == FingerprintMap::none) return put(url), false;
        if constexpr (Hand::marks) marks_[slot] = true;
        return true;
    }
    void prefetch(Fingerprint url) const { index_.prefetch(url); }
    std::uint64_t entries() const override { return entries_; }
    std::uint64_t memory_bits() const override {
        return index_.memory_bits() + urls_.capacity() * 8 * sizeof(Fingerprint) + marks_.size();
    }

private:
    void put(Fingerprint url) {
        if (urls_.size() < entries_) {
            index_.at(url) = static_cast<std::uint32_t>(urls_.size());
            urls_.push_back(url);
            return;
        }
        auto const slot = hand_.victim([&](std::uint64_t at) { return marks_[at]; }, [&](std::uint64_t at) { marks_[at] = false; });
        index_.erase(urls_[slot]);
        index_.at(url) = static_cast<std::uint32_t>(slot);
        urls_[slot] = url;
    }

    std::uint64_t const entries_;
    FingerprintMap index_;   // the slot of each
    std::vector<Fingerprint> urls_;
    std::vector<bool> marks_;
    Hand hand_;
};

using Clock = Slotted<ClockHand>;
using Random = Slotted<RandomHand>;

}   // namespace garner::papers
