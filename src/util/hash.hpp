// Keyed 64-bit fingerprints of byte strings.
#pragma once
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdint>
#include <string_view>

namespace garner {

/// A keyed 64-bit hash of a cache key. Equal keys have equal fingerprints under one seed; the converse must be checked.
using Fingerprint = std::uint64_t;

/// Without the seed nobody outside can make keys collide on purpose.
inline Fingerprint fingerprint(std::string_view bytes, std::uint64_t seed) {
    return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace garner
