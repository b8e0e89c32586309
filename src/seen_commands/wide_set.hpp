// An exact set of fingerprints of 128 bits, in memory.
#pragma once
#include <array>
#include <cstdint>

#include "crawl/huge_array.hpp"
#include "crawl/url_set.hpp"

namespace garner::seen_commands {

/// Lines of 64 bytes with four whole fingerprints each. If a line is full, the next one is used (linear probing). Takes 146 bits
/// an entry if the number is known in advance, up to 183 if the set grows. During growth by a quarter both tables exist.
class WideSet final : public crawl::WideUrlSet {
public:
    struct Options {
        std::uint64_t expected = 0;   // entries; 0: not known
        std::uint64_t seed = 1;       // secret, so that clients cannot choose fingerprints of one line
    };
    explicit WideSet(Options const&);
    /// The memory of an empty set for this number of expected entries.
    static Bytes bytes_for(std::uint64_t expected);

    Added add(std::span<crawl::Fingerprint128 const>, std::span<std::uint8_t> is_new) override;
    std::uint64_t size() const override { return size_ + (has_zero_ ? 1 : 0); }
    Bytes memory_bytes() const override { return sizeof *this + lines_.bytes(); }

private:
    struct alignas(64) Line {
        std::array<crawl::Fingerprint128, 4> slots;   // 0: free
    };

    std::uint64_t line_of(crawl::Fingerprint128 const&) const;
    bool put(crawl::Fingerprint128 const&);
    void grow();

    crawl::HugeArray<Line> lines_;
    std::uint64_t seed_, size_ = 0, room_ = 0;
    bool has_zero_ = false;
};

}   // namespace garner::seen_commands
