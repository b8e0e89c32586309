// How often keys were asked for lately, held or not: a count-min sketch that ages.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "util/bytes.hpp"
#include "util/hash.hpp"

namespace garner::policy {

/// Estimates of 0 to 15, never too low between two ageings except by the 15; too high where keys collide. Four rows of
/// 4-bit counters with conservative update (Cormode and Muthukrishnan 2005; Estan and Varghese 2002), all halved once
/// `sample` additions for each object held have come in (TinyLFU: Einziger, Friedman, Manes 2017).
///
/// The four counters of a key lie in one cache line. Allocates only in cover(). Deterministic.
class Sketch {
public:
    struct Shape {
        std::uint32_t counters = 16;   // at least so many for each object held, up to twice as many; two take a byte
        std::uint32_t sample = 10;     // additions for each object held until all counts are halved
    };

    /// What is left of a fingerprint here, for policies that keep it by slot.
    using Tag = std::uint32_t;
    static Tag tag(Fingerprint fingerprint) {
        fingerprint = (fingerprint ^ fingerprint >> 32) * 0x9e37'79b9'7f4a'7c15;
        return static_cast<Tag>(fingerprint >> 32 ^ fingerprint >> 15);
    }

    explicit Sketch(Shape = {16, 10});

    /// Gives the estimate with this one.
    std::uint32_t add(Tag);
    std::uint32_t estimate(Tag) const;

    /// So many objects are held: grows by doubling where that is more than ever. Every estimate stays.
    void cover(std::uint64_t objects);

    Bytes metadata_bytes() const { return blocks_.capacity() * sizeof(Block); }

private:
    static constexpr std::uint32_t rows = 4;
    static constexpr std::uint32_t words_a_row = 2;
    static constexpr std::uint32_t counters_a_block = 128;
    static constexpr std::size_t first_blocks = 16;   // 1 KiB: the counts of a few objects need not grow from nothing
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
    void age();

    Shape shape_;
    std::vector<Block> blocks_;        // a power of two of them
    std::uint64_t objects_ = 1;        // the most that were held
    std::uint64_t additions_ = 0;      // since the ageing, and half of those before it
};

}  // namespace garner::policy
