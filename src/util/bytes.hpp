// Byte counts with their units.
#pragma once
#include <cstdint>

namespace garner {

/// A number of bytes.
using Bytes = std::uint64_t;

inline constexpr Bytes KiB = 1024;
inline constexpr Bytes MiB = 1024 * KiB;
inline constexpr Bytes GiB = 1024 * MiB;

}  // namespace garner
