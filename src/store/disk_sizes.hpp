// Size classes of records in five bits, for in-memory structures with one entry per record.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "util/bytes.hpp"
#include "util/check.hpp"

namespace garner::store::disk {

inline constexpr Bytes record_max = 400 * KiB;
inline constexpr Bytes piece_record_bytes = 127 * KiB + 80;   // a whole piece, with its head and two checksums
inline constexpr unsigned size_bits = 5;

// The largest size of each class. The class of whole pieces is exact, so that no excess is read for most bytes; each
// class below it is 4/5 of the next. So bodies of 64 KiB also have little excess.
inline constexpr auto class_bytes = [] {
    std::array<Bytes, 1 << size_bits> bytes{};
    auto i = bytes.size() - 1;
    bytes[i] = record_max;
    bytes[--i] = piece_record_bytes;
    for (; i > 1; --i) bytes[i - 1] = (bytes[i] * 81 / 100 + 15) / 16 * 16;
    return bytes;
}();
static_assert(class_bytes[1] >= 256 && class_bytes[1] <= 512);

/// Maps 1 to record_max bytes, in multiples of 16, to a class from 1 to 31.
inline unsigned size_class(Bytes bytes) {
    check(bytes > 0 && bytes <= record_max);
    return static_cast<unsigned>(std::ranges::lower_bound(class_bytes, bytes) - class_bytes.begin());
}

/// The largest size of a class: at least the original size, and at most a third more above the smallest class.
inline Bytes size_of_class(std::uint64_t size) { return class_bytes[size]; }

/// The approximate mean size of a class, for sums.
inline Bytes typical_of_class(std::uint64_t size) {
    bool const of_pieces = class_bytes[size] == piece_record_bytes;
    return of_pieces ? piece_record_bytes : (class_bytes[size - 1] + class_bytes[size]) / 2;
}

}   // namespace garner::store::disk
