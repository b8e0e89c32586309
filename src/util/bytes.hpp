// Byte counts with their units.
#pragma once
#include <cstdint>

namespace garner {

/// A number of bytes.
using Bytes = std::uint64_t;

inline constexpr Bytes KiB = 1024;
inline constexpr Bytes MiB = 1024 * KiB;
inline constexpr Bytes GiB = 1024 * MiB;

/// The heap memory of a block of this many bytes. glibc: 8 bytes before each block, rounded up to 16, at least 32.
constexpr Bytes heap_block(Bytes bytes) { return bytes <= 24 ? 32 : (bytes + 8 + 15) / 16 * 16; }

}   // namespace garner
