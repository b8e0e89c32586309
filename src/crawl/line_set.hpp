// The exact set in memory: lines of 64 bytes that hold up to twelve fingerprints each, of which only those bits are kept
// that their line does not say (quotienting, Knuth 6.4 exercise 13; two lines for each as in cuckoo filters, Fan 2014).
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "crawl/huge_array.hpp"
#include "crawl/simd.hpp"
#include "crawl/url_set.hpp"

namespace garner::crawl {

/// From 45 bits an entry where the number is known beforehand and is 1e8 or more; grown step by step, an eighth at a time
/// and a sixty-fourth of the set at once, up to an eighth more. Small sets take more: 60 bits at 1e5, and up to a quarter
/// more when grown. Any fingerprints are spread evenly, so they need not be hashes.
class LineSet final : public UrlSet {
public:
    struct Options {
        std::uint64_t expected = 0;   // entries; 0: not known
        std::uint64_t seed = 1;       // without it nobody can choose fingerprints that lie in one line
        Simd simd = best_simd();
    };
    explicit LineSet(Options const&);
    /// What it takes from the beginning, if so many are expected.
    static Bytes bytes_for(std::uint64_t expected);

    Added add(std::span<Fingerprint const>, std::span<std::uint8_t> is_new) override;
    std::uint64_t size() const override;
    Bytes memory_bytes() const override;

    /// All of them, in no order.
    std::vector<Fingerprint> entries() const;
    void clear();

    /// One line: tags of 32 bits from its beginning, then the other bits of each, in the last byte how many and whether
    /// any whose first line this is lies in its second one.
    struct alignas(64) Line {
        unsigned char bytes[64];
    };

    /// A part of the set with lines of its own.
    struct Segment {
        HugeArray<Line> lines = {};
        std::uint64_t reciprocal = 0;   // of the number of lines: 2^64 / lines, rounded up
        std::uint32_t line_count = 0;
        std::uint32_t slots = 0;        // in each line
        std::uint32_t rest_bits = 0;    // of a slot beside its tag
        std::uint64_t size = 0;
        std::uint64_t room = 0;         // so many; then it grows
    };

    /// Where a fingerprint may be in its segment, and what a slot would hold there.
    struct Home {
        std::uint32_t line;        // the first
        std::uint64_t remainder;
    };

private:
    static constexpr unsigned segment_bits = 6;
    static constexpr std::size_t segment_count = std::size_t{1} << segment_bits;

    template <class Ops>
    [[gnu::always_inline]] inline std::uint64_t add_all(std::span<Fingerprint const>, std::span<std::uint8_t> is_new);
    template <class Ops>
    [[gnu::always_inline]] inline bool add_one(std::uint64_t key);

    static std::uint64_t lines_in_segment(std::uint64_t expected);
    bool insert(Segment&, std::uint64_t key);
    void put(std::size_t segment, std::uint64_t key);
    void grow(std::size_t segment);
    bool fill(Segment& larger, Segment const&);

    Options options_;
    std::array<Segment, segment_count> segments_;
    std::uint64_t growths_ = 0;
    std::uint64_t random_;
};

}  // namespace garner::crawl
