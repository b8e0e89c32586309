// An exact set in memory: lines of 64 bytes with up to twelve fingerprints each. Bits implied by the line are not
// stored (quotienting, Knuth 6.4 exercise 13; two lines for each key as in cuckoo filters, Fan 2014).
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "crawl/huge_array.hpp"
#include "crawl/simd.hpp"
#include "crawl/url_set.hpp"

namespace garner::crawl {

/// Takes at least 45 bits an entry if at least 1e8 entries are expected in advance. Growth is stepwise, by an eighth and a
/// sixty-fourth of the set at a time, and costs up to an eighth more. Small sets need more: 60 bits at 1e5, and up to
/// a quarter more when grown. Works for arbitrary fingerprints, not only hashes.
class LineSet final : public UrlSet {
public:
    struct Options {
        std::uint64_t expected = 0;   // entries; 0: unknown
        std::uint64_t seed = 1;       // prevents constructed fingerprints that share a line
        Simd simd = best_simd();
    };
    explicit LineSet(Options const&);
    /// Initial memory for this many expected entries.
    static Bytes bytes_for(std::uint64_t expected);

    Added add(std::span<Fingerprint const>, std::span<std::uint8_t> is_new) override;
    std::uint64_t size() const override;
    Bytes memory_bytes() const override;

    /// All entries, unordered.
    std::vector<Fingerprint> entries() const;
    void clear();

    /// One line: tags of 32 bits from its beginning, then the other bits of each. The last byte has the count and a
    /// flag: a key whose first line this is may be in its second line.
    struct alignas(64) Line {
        unsigned char bytes[64];
    };

    /// A part of the set with lines of its own.
    struct Segment {
        HugeArray<Line> lines = {};
        std::uint64_t reciprocal = 0;   // 2^64 / number of lines, rounded up
        std::uint32_t line_count = 0;
        std::uint32_t slots = 0;       // in each line
        std::uint32_t rest_bits = 0;   // bits of a slot without its tag
        std::uint64_t size = 0;
        std::uint64_t room = 0;   // entries before it grows
    };

    /// The first line of a fingerprint in its segment, and its slot value there.
    struct Home {
        std::uint32_t line;   // the first
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

}   // namespace garner::crawl
