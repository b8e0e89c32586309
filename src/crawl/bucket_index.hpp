// Membership queries in any order for a sorted bucket of a run, with an index of cells.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "crawl/simd.hpp"
#include "util/hash.hpp"

namespace garner::crawl {

class BucketIndex {
public:
    /// Number of UINT64_MAX values that must follow a bucket's fingerprints.
    static constexpr std::size_t slack = 8;

    explicit BucketIndex(Simd simd = best_simd()) : simd_(simd) {}

    /// `known` are ascending, agree in their first `bits` bits, and are followed by slack. The index is valid until
    /// the next call or the end of `known`.
    void take(std::span<Fingerprint const> known, unsigned bits);
    /// Sets is_new[i] to 1 if the bucket does not contain asked[i], otherwise 0; each asked[i] must agree in the
    /// bucket's bits.
    void mark_new(std::span<Fingerprint const> asked, std::span<std::uint8_t> is_new) const;

private:
    template <class Ops>
    [[gnu::always_inline]] inline void mark(std::span<Fingerprint const>, std::span<std::uint8_t> is_new) const;
    std::size_t cell_of(Fingerprint url) const { return url << bits_ >> shift_; }

    Simd simd_;
    std::span<Fingerprint const> known_;
    unsigned bits_ = 0, shift_ = 63;
    std::vector<std::uint32_t> begins_;   // index of the first fingerprint of each cell, selected by the next bits; a cell has
                                          // about three
};

}   // namespace garner::crawl
