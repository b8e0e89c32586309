// Sizes of records in five bits, for what is kept in memory of each of them.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "util/bytes.hpp"
#include "util/check.hpp"

namespace garner::store::disk {

inline constexpr Bytes record_max = 400 * KiB;
inline constexpr unsigned size_bits = 5;

// The most bytes of each class, at most 21/16 of the least, so that 31 classes reach from 64 bytes to record_max.
inline constexpr auto class_bytes = [] {
    std::array<Bytes, 1 << size_bits> bytes{0, 80};
    for (std::size_t i = 2; i < bytes.size(); ++i) bytes[i] = (bytes[i - 1] + 16) * 21 / 16 / 16 * 16;
    bytes.back() = std::min(bytes.back(), record_max);
    return bytes;
}();
static_assert(class_bytes.back() == record_max);

/// Of 1 to record_max bytes, in multiples of 16: a number from 1 to 31.
inline unsigned size_class(Bytes bytes) {
    check(bytes > 0 && bytes <= record_max);
    return static_cast<unsigned>(std::ranges::lower_bound(class_bytes, bytes) - class_bytes.begin());
}

/// For a size_class(): not less than the bytes that it was made of, and from 64 on by less than a third more.
inline Bytes size_of_class(std::uint64_t size) { return class_bytes[size]; }

}  // namespace garner::store::disk
