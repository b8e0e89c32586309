// Streams of fingerprints for the tests of caches.
#pragma once
#include <cstdint>
#include <vector>

#include "papers/dice.hpp"
#include "util/hash.hpp"

namespace garner::crawl::test {

/// A stream over `distinct` URLs; half of the requests go to the first eighth of them. Fingerprints are spread over all 64 bits.
inline std::vector<Fingerprint> any_stream(std::size_t length, std::uint64_t distinct, std::uint64_t seed = 1) {
    papers::Dice dice(seed);
    std::vector<Fingerprint> stream;
    for (std::size_t i = 0; i < length; ++i) {
        auto const url = dice.below(dice.below(2) ? distinct : distinct / 8 + 1);
        stream.push_back(papers::Dice::mixed(url + 1));
    }
    return stream;
}

}   // namespace garner::crawl::test
