// Rabin fingerprints (1981; Broder 1993): the text as a polynomial over GF(2), modulo an irreducible polynomial.
//
// Used by the papers on URL caching. For a random polynomial the collision probability is proven to be at most (bits
// of the longer text) / 2^63; XXH3 is several times faster and has no such proof.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "util/hash.hpp"

namespace garner::papers {

class Rabin {
public:
    /// The bits below x^64: the first irreducible polynomial from the binary digits of e on.
    static constexpr std::uint64_t default_polynomial = 0xb7e151628aed2a9f;

    explicit Rabin(std::uint64_t polynomial = default_polynomial);

    /// A 1 is prepended to the text, so that leading zeros count. Any thread.
    Fingerprint operator()(std::string_view text) const;

private:
    /// times_[i][b]: the byte b times x^(64 + 8 i).
    std::array<std::array<std::uint64_t, 256>, 8> times_;
};

}   // namespace garner::papers
