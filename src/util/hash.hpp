// Keyed 64-bit fingerprints of byte strings.
#pragma once
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdint>
#include <string_view>

#include "util/random_bits.hpp"

namespace garner {

/// A keyed 64-bit hash of a cache key. Equal keys have equal fingerprints under one seed; the converse must be checked.
using Fingerprint = std::uint64_t;

/// A secret seed prevents intentional collisions.
inline Fingerprint fingerprint(std::string_view bytes, std::uint64_t seed) {
    return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

/// Hashes text under a key, so that no other process can choose texts that collide.
struct KeyedHash {
    using is_transparent = void;
    std::uint64_t seed = random_bits();
    std::size_t operator()(std::string_view text) const { return fingerprint(text, seed); }
};

}   // namespace garner
