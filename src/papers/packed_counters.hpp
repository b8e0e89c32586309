// Counters of a few bits, packed into words.
#pragma once
#include <cstdint>
#include <span>

#include "crawl/huge_array.hpp"

namespace garner::papers {

/// `bits` is 1, 2 or 4. All counters are initially 0.
template <unsigned bits>
class Counters {
public:
    static constexpr unsigned per_word = 64 / bits, highest = (1u << bits) - 1;

    /// Rounded up to whole words.
    explicit Counters(std::uint64_t count) : words_((count + per_word - 1) / per_word) {}

    std::uint64_t size() const { return words_.size() * per_word; }
    std::uint64_t memory_bits() const { return words_.bytes() * 8; }
    std::span<std::uint64_t> words() { return words_; }
    unsigned value(std::uint64_t i) const { return words_[i / per_word] >> shift(i) & highest; }
    void set(std::uint64_t i, unsigned value) {
        auto& word = words_[i / per_word];
        word = (word & ~(std::uint64_t{highest} << shift(i))) | std::uint64_t{value} << shift(i);
    }
    /// Saturates at the highest value, and at 0. Branch-free, because the values are unpredictable.
    void increment(std::uint64_t i) { words_[i / per_word] += std::uint64_t{value(i) < highest} << shift(i); }
    void decrement(std::uint64_t i) { words_[i / per_word] -= std::uint64_t{value(i) > 0} << shift(i); }
    void prefetch(std::uint64_t i) const { __builtin_prefetch(&words_[i / per_word]); }
    void clear() { words_ = crawl::HugeArray<std::uint64_t>(words_.size()); }

private:
    static unsigned shift(std::uint64_t i) { return bits * static_cast<unsigned>(i % per_word); }

    crawl::HugeArray<std::uint64_t> words_;
};

}   // namespace garner::papers
