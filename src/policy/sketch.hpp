// Request frequency estimates of keys, held or not: a count-min sketch with ageing.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "util/bytes.hpp"
#include "util/hash.hpp"

namespace garner::policy {

/// Estimates from 0 to 15. Between two ageings never too low, except for the limit of 15; too high on collisions.
/// Four rows of 4-bit counters with conservative update (Cormode and Muthukrishnan 2005; Estan and Varghese 2002).
/// All are halved after `sample` additions for each object held (TinyLFU: Einziger, Friedman, Manes 2017).
///
/// The four counters of a key are in one cache line. Allocates only in cover(). Deterministic.
class Sketch {
public:
    struct Shape {
        std::uint32_t counters = 16;   // minimum per object held, up to twice as many; two take a byte
        std::uint32_t sample = 10;     // additions per object held until all counts are halved
    };

    /// The part of a fingerprint used here, for policies that keep it by slot.
    using Tag = std::uint32_t;
    static Tag tag(Fingerprint fingerprint) {
        fingerprint = (fingerprint ^ fingerprint >> 32) * 0x9e37'79b9'7f4a'7c15;
        return static_cast<Tag>(fingerprint >> 32 ^ fingerprint >> 15);
    }

    explicit Sketch(Shape = {16, 10});

    /// Returns the estimate including this one.
    std::uint32_t add(Tag);
    std::uint32_t estimate(Tag) const;

    /// Sets the number of objects held: grows by doubling above the previous maximum. Every estimate stays.
    void cover(std::uint64_t objects) {
        objects_ = std::max(objects_, objects);
        while (blocks_.size() * counters_a_block < objects_ * shape_.counters) double_blocks();
    }

    Bytes metadata_bytes() const { return blocks_.capacity() * sizeof(Block); }

private:
    static constexpr std::uint32_t rows = 4;
    static constexpr std::uint32_t words_a_row = 2;
    static constexpr std::uint32_t counters_a_block = 128;
    static constexpr std::size_t first_blocks = 16;   // 1 KiB: avoids early growth
    static constexpr std::uint64_t most_count = 15;
    struct alignas(64) Block {
        std::array<std::uint64_t, rows * words_a_row> words{};
    };
    struct Counter {
        std::uint32_t word, shift;
    };

    /// A tag's counters within its block, by row.
    static std::array<Counter, rows> counters_of(Tag);
    static std::uint64_t lowest(Block const&, std::array<Counter, rows> const&);
    std::size_t block_of(Tag tag) const { return tag & (blocks_.size() - 1); }
    void double_blocks();
    void age();

    Shape shape_;
    std::vector<Block> blocks_;     // the number of blocks is a power of two
    std::uint64_t objects_ = 1;     // the most that were held
    std::uint64_t additions_ = 0;   // since the last ageing, plus half of the count before it
};

// ---- inline: called for each request ----

inline std::uint32_t Sketch::add(Tag tag) {
    Block& block = blocks_[block_of(tag)];
    auto counters = counters_of(tag);
    auto count = lowest(block, counters);
    // Increments only the lowest counters: the others are already too high for this key. Branch-free, because they
    // are unpredictable.
    if (count < most_count) {
        for (auto [word, shift] : counters) {
            std::uint64_t const is_lowest = (block.words[word] >> shift & most_count) == count;
            block.words[word] += is_lowest << shift;
        }
        ++count;
    }
    if (++additions_ >= objects_ * shape_.sample) age();
    return static_cast<std::uint32_t>(count);
}

inline std::uint32_t Sketch::estimate(Tag tag) const {
    return static_cast<std::uint32_t>(lowest(blocks_[block_of(tag)], counters_of(tag)));
}

inline std::array<Sketch::Counter, Sketch::rows> Sketch::counters_of(Tag tag) {
    // The block is selected by the tag's low bits; these depend on all of its bits.
    auto bits = static_cast<std::uint32_t>(tag * 0xd6e8'feb8'6659'fd93 >> 32);
    std::array<Counter, rows> counters;
    for (std::uint32_t row = 0; row < rows; ++row, bits <<= 5)
        counters[row] = {.word = row * words_a_row + (bits >> 31), .shift = (bits >> 27 & 15) * 4};
    return counters;
}

inline std::uint64_t Sketch::lowest(Block const& block, std::array<Counter, rows> const& counters) {
    auto count = most_count;
    for (auto [word, shift] : counters) count = std::min(count, block.words[word] >> shift & most_count);
    return count;
}

}   // namespace garner::policy
