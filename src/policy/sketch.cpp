#include "policy/sketch.hpp"

#include "util/check.hpp"

namespace garner::policy {

Sketch::Sketch(Shape shape) : shape_(shape), blocks_(first_blocks) { check(shape.counters > 0 && shape.sample > 0); }

/// One more bit of the tag selects the block. Counts are copied, so a key finds its old counts in either block, and also those of
/// other keys until they age.
void Sketch::double_blocks() {
    auto const half = blocks_.size();
    blocks_.reserve(2 * half);
    for (std::size_t i = 0; i < half; ++i) blocks_.push_back(blocks_[i]);
}

void Sketch::age() {
    constexpr std::uint64_t three_bits_of_each = 0x7777'7777'7777'7777;
    for (Block& block : blocks_)
        for (auto& word : block.words) word = word >> 1 & three_bits_of_each;
    additions_ /= 2;
}

}   // namespace garner::policy
