// An exact set of fingerprints of 128 bits, in memory.
#pragma once
#include <array>
#include <cstdint>

#include "crawl/huge_array.hpp"
#include "crawl/url_set.hpp"

namespace garner::seen_commands {

/// Lines of 64 bytes with four fingerprints each as they are, the next line where one is full (linear probing): 146 bits an
/// entry where the number is known beforehand, up to 183 where it grows. While it grows by a quarter, both are there.
class WideSet final : public crawl::WideUrlSet {
public:
    struct Options {
        std::uint64_t expected = 0;   // entries; 0: not known
        std::uint64_t seed = 1;       // secret, so that no client can choose fingerprints of one line
    };
    explicit WideSet(Options const&);
    /// The memory of an empty set that expects so many.
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
