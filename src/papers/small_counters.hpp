// Counters of two bits, 32 in a word, that stop at 0.
#pragma once
#include <algorithm>
#include <cstdint>

#include "crawl/huge_array.hpp"

namespace garner::papers {

class SmallCounters {
public:
    static constexpr unsigned per_word = 32, highest = 3;

    /// Rounded up to whole words.
    explicit SmallCounters(std::uint64_t count) : words_((count + per_word - 1) / per_word) {}

    std::uint64_t size() const { return words_.size() * per_word; }
    std::uint64_t memory_bits() const { return words_.bytes() * 8; }
    unsigned value(std::uint64_t i) const { return words_[i / per_word] >> shift(i) & 3; }
    void set(std::uint64_t i, unsigned value) {
        auto& word = words_[i / per_word];
        word = (word & ~(std::uint64_t{3} << shift(i))) | std::uint64_t{value} << shift(i);
    }
    void prefetch(std::uint64_t i) const { __builtin_prefetch(&words_[i / per_word]); }

    void decrement(std::uint64_t i) {
        if (auto const now = value(i); now > 0) set(i, now - 1);
    }
    /// One less where it is not 0, for `count` of them from `begin` on, and on from the first after the last. Returns
    /// where it ended. Without a branch for any counter: the lower bit of each is taken away where either is set.
    std::uint64_t decrement(std::uint64_t begin, std::uint64_t count) {
        for (; count > 0;) {
            auto const offset = begin % per_word, here = std::min(count, per_word - offset);
            auto const mask = (here == per_word ? ~std::uint64_t{0} : (std::uint64_t{1} << 2 * here) - 1) << 2 * offset;
            auto& word = words_[begin / per_word];
            word -= (word | word >> 1) & 0x5555555555555555 & mask;
            begin += here;
            count -= here;
            if (begin == size()) begin = 0;
        }
        return begin;
    }
    /// The same, one after the other.
    std::uint64_t decrement_one_by_one(std::uint64_t begin, std::uint64_t count) {
        for (; count > 0; --count) {
            decrement(begin);
            if (++begin == size()) begin = 0;
        }
        return begin;
    }

private:
    static unsigned shift(std::uint64_t i) { return 2 * static_cast<unsigned>(i % per_word); }

    crawl::HugeArray<std::uint64_t> words_;
};

}  // namespace garner::papers
