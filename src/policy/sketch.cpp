#include "policy/sketch.hpp"

#include <algorithm>

#include "util/check.hpp"

namespace garner::policy {

Sketch::Sketch(Shape shape) : shape_(shape), blocks_(first_blocks) { check(shape.counters > 0 && shape.sample > 0); }

std::uint32_t Sketch::add(Tag tag) {
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

std::uint32_t Sketch::estimate(Tag tag) const {
    return static_cast<std::uint32_t>(lowest(blocks_[block_of(tag)], counters_of(tag)));
}

void Sketch::cover(std::uint64_t objects) {
    objects_ = std::max(objects_, objects);
    while (blocks_.size() * counters_a_block < objects_ * shape_.counters) {
        // One more bit of the tag selects the block. Counts are copied, so a key finds its old counts in either
        // block, and also those of other keys until they age.
        auto half = blocks_.size();
        blocks_.reserve(2 * half);
        for (std::size_t i = 0; i < half; ++i) blocks_.push_back(blocks_[i]);
    }
}

std::array<Sketch::Counter, Sketch::rows> Sketch::counters_of(Tag tag) {
    // The block is selected by the tag's low bits; these depend on all of its bits.
    auto bits = static_cast<std::uint32_t>(tag * 0xd6e8'feb8'6659'fd93 >> 32);
    std::array<Counter, rows> counters;
    for (std::uint32_t row = 0; row < rows; ++row, bits <<= 5)
        counters[row] = {.word = row * words_a_row + (bits >> 31), .shift = (bits >> 27 & 15) * 4};
    return counters;
}

std::uint64_t Sketch::lowest(Block const& block, std::array<Counter, rows> const& counters) {
    auto count = most_count;
    for (auto [word, shift] : counters) count = std::min(count, block.words[word] >> shift & most_count);
    return count;
}

void Sketch::age() {
    constexpr std::uint64_t three_bits_of_each = 0x7777'7777'7777'7777;
    for (Block& block : blocks_)
        for (auto& word : block.words) word = word >> 1 & three_bits_of_each;
    additions_ /= 2;
}

}   // namespace garner::policy
