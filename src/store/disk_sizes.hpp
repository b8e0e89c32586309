// Sizes of records in five bits, for what is kept in memory of each of them.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "util/bytes.hpp"
#include "util/check.hpp"

namespace garner::store::disk {

inline constexpr Bytes record_max = 400 * KiB;
inline constexpr Bytes piece_record_bytes = 127 * KiB + 80;   // of a whole piece, with its head and two checksums
inline constexpr unsigned size_bits = 5;

// The most bytes of each class. That of whole pieces has no byte too many, so that nothing is read in vain where most of
// the bytes are; those below it are 4/5 of the next. So bodies of 64 KiB, too, come with hardly more than there is.
inline constexpr auto class_bytes = [] {
    std::array<Bytes, 1 << size_bits> bytes{};
    auto i = bytes.size() - 1;
    bytes[i] = record_max;
    bytes[--i] = piece_record_bytes;
    for (; i > 1; --i) bytes[i - 1] = (bytes[i] * 81 / 100 + 15) / 16 * 16;
    return bytes;
}();
static_assert(class_bytes[1] >= 256 && class_bytes[1] <= 512);

/// Of 1 to record_max bytes, in multiples of 16: a number from 1 to 31.
inline unsigned size_class(Bytes bytes) {
    check(bytes > 0 && bytes <= record_max);
    return static_cast<unsigned>(std::ranges::lower_bound(class_bytes, bytes) - class_bytes.begin());
}

/// For a size_class(): not less than the bytes that it was made of, and by a third more at most above the least class.
inline Bytes size_of_class(std::uint64_t size) { return class_bytes[size]; }

/// About what those of a class have, one with another: for those who add up.
inline Bytes typical_of_class(std::uint64_t size) {
    bool const of_pieces = class_bytes[size] == piece_record_bytes;
    return of_pieces ? piece_record_bytes : (class_bytes[size - 1] + class_bytes[size]) / 2;
}

}  // namespace garner::store::disk
