// Which fingerprints a bucket of a run holds, asked in any order: it is rising, and where each part of it begins is noted.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "crawl/simd.hpp"
#include "util/hash.hpp"

namespace garner::crawl {

class BucketIndex {
public:
    /// What must be there beyond a bucket's fingerprints, each UINT64_MAX.
    static constexpr std::size_t slack = 8;

    explicit BucketIndex(Simd simd = best_simd()) : simd_(simd) {}

    /// `known` rise, agree in their first `bits` bits, and have slack. Valid until the next call; as long as they are.
    void take(std::span<Fingerprint const> known, unsigned bits);
    /// is_new[i] becomes 1 where it does not hold asked[i], which agree with it in those bits, else 0.
    void mark_new(std::span<Fingerprint const> asked, std::span<std::uint8_t> is_new) const;

private:
    template <class Ops>
    [[gnu::always_inline]] inline void mark(std::span<Fingerprint const>, std::span<std::uint8_t> is_new) const;
    std::size_t cell_of(Fingerprint url) const { return url << bits_ >> shift_; }

    Simd simd_;
    std::span<Fingerprint const> known_;
    unsigned bits_ = 0, shift_ = 63;
    std::vector<std::uint32_t> begins_;   // by the bits after the first: the first of that cell, of some three
};

}  // namespace garner::crawl
