// Shared by the fuzz targets: exact allocations of the input, and positions to split it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "util/check.hpp"

namespace garner::fuzz {

/// A copy whose allocation ends with the data, so that ASan reports a read past it.
class Exact {
public:
    explicit Exact(std::string_view text) : bytes_(std::make_unique<char[]>(text.size())), size_(text.size()) {
        text.copy(bytes_.get(), size_);
    }
    std::string_view view() const { return {bytes_.get(), size_}; }

private:
    std::unique_ptr<char[]> bytes_;
    std::size_t size_;
};

inline bool lies_inside(std::string_view part, std::string_view whole) {
    return part.empty() || (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

/// Positions that split `size` bytes: the last one is `size`. `seed` decides the number of splits.
inline std::vector<std::size_t> cuts(std::size_t size, std::uint32_t seed) {
    std::vector<std::size_t> places;
    std::uint32_t const mean = 1 + seed % 40;
    for (std::size_t at = 0; at < size;) {
        seed = seed * 1664525 + 1013904223;
        at += 1 + (seed >> 16) % (2 * mean);
        if (at < size) places.push_back(at);
    }
    places.push_back(size);
    return places;
}

/// The first byte of an input is the seed of the splits; the rest is parsed.
struct Input {
    std::uint32_t seed = 0;
    std::string_view bytes;

    Input(std::uint8_t const* data, std::size_t size) {
        if (size == 0) return;
        seed = data[0];
        bytes = {reinterpret_cast<char const*>(data) + 1, size - 1};
    }
};

}   // namespace garner::fuzz
