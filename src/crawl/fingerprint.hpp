// Fingerprints of canonical URLs: the same in every process and on every machine, so that they can be stored and sent.
#pragma once
#include <string_view>

#include "util/hash.hpp"

namespace garner::crawl {

/// XXH3 without a seed. Not secret: who wants to can make two URLs of one fingerprint.
inline Fingerprint fingerprint64(std::string_view canonical) { return garner::fingerprint(canonical, 0); }

/// For sets in which 64 bits would meet too often: of 1e9 URLs some pair does with a chance of 2.7 %.
struct Fingerprint128 {
    std::uint64_t high = 0, low = 0;
    friend constexpr auto operator<=>(Fingerprint128 const&, Fingerprint128 const&) = default;
};

inline Fingerprint128 fingerprint128(std::string_view canonical) {
    auto const hash = XXH3_128bits(canonical.data(), canonical.size());
    return {hash.high64, hash.low64};
}

}  // namespace garner::crawl
