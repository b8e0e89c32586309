// Fingerprints of canonical URLs. They are equal in every process and on every machine, so they can be stored and
// sent.
#pragma once
#include <string_view>

#include "util/hash.hpp"

namespace garner::crawl {

/// XXH3 without a seed. Not collision-resistant: two URLs with one fingerprint can be constructed.
inline Fingerprint fingerprint64(std::string_view canonical) { return garner::fingerprint(canonical, 0); }

/// For sets in which 64-bit collisions are too likely: 2.7 % for at least one pair among 1e9 URLs.
struct Fingerprint128 {
    std::uint64_t high = 0, low = 0;
    friend constexpr auto operator<=>(Fingerprint128 const&, Fingerprint128 const&) = default;
};

inline Fingerprint128 fingerprint128(std::string_view canonical) {
    auto const hash = XXH3_128bits(canonical.data(), canonical.size());
    return {hash.high64, hash.low64};
}

}   // namespace garner::crawl
