// Rabin's fingerprint (1981; Broder 1993): the text as a polynomial over GF(2), modulo one that is irreducible.
//
// The papers on URL caching use it. Its chance of two texts meeting is proven for a polynomial drawn at random, at
// most (bits of the longer text) / 2^63; XXH3 is several times faster and has no such proof.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "util/hash.hpp"

namespace garner::papers {

class Rabin {
public:
    /// x^64 and the bits of this number: the first irreducible one from the binary digits of e on.
    static constexpr std::uint64_t default_polynomial = 0xb7e151628aed2a9f;

    explicit Rabin(std::uint64_t polynomial = default_polynomial);

    /// A 1 is put before the text, so that leading zeros count. Any thread.
    Fingerprint operator()(std::string_view text) const;

private:
    /// times_[i][b]: the byte b times x^(64 + 8 i).
    std::array<std::array<std::uint64_t, 256>, 8> times_;
};

}  // namespace garner::papers
