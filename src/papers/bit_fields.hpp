// An array of fields of any width, packed without gaps.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "util/check.hpp"

namespace garner::papers {

/// `count` fields of `width` bits, initially 0, in the minimum number of bytes (at least 16). A width of 0 is
/// allowed: such fields are 0.
class BitFields {
public:
    using Field = unsigned __int128;
    static constexpr unsigned width_max = 120;   // plus up to 7 bits before it in its first byte

    BitFields(std::uint64_t count, unsigned width)
        : count_(count), width_(width), ones_((Field{1} << width) - 1),
          bytes_(std::max<std::uint64_t>((count * width + 7) / 8, sizeof(Field))) {
        check(width <= width_max);
    }

    Field get(std::uint64_t index) const {
        auto const at = position(index);
        return (load(at.byte) >> at.shift) & ones_;
    }
    /// `value` must fit.
    void set(std::uint64_t index, Field value) {
        auto const at = position(index);
        auto const all = (load(at.byte) & ~(ones_ << at.shift)) | (value << at.shift);
        std::memcpy(&bytes_[at.byte], &all, sizeof all);
    }
    void prefetch(std::uint64_t index) const {
        auto const first = bytes_.data() + index * width_ / 8;
        __builtin_prefetch(first);
        __builtin_prefetch(first + width_max / 8);
    }

    std::uint64_t count() const { return count_; }
    unsigned width() const { return width_; }
    std::uint64_t bits() const { return count_ * width_; }

private:
    struct Position {
        std::uint64_t byte;
        unsigned shift;
    };
    // The last fields are read in words that begin earlier, so that no read crosses the end.
    Position position(std::uint64_t index) const {
        auto const bit = index * width_;
        auto const byte = std::min<std::uint64_t>(bit / 8, bytes_.size() - sizeof(Field));
        return {byte, static_cast<unsigned>(bit - byte * 8)};
    }
    Field load(std::uint64_t byte) const {
        Field all;
        std::memcpy(&all, &bytes_[byte], sizeof all);
        return all;
    }

    std::uint64_t count_;
    unsigned width_;
    Field ones_;
    std::vector<std::uint8_t> bytes_;
};

}   // namespace garner::papers
