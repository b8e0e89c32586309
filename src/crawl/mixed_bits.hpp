// A reversible mix of 64 bits, for tables that use a fingerprint's upper bits as position.
#pragma once
#include <cstdint>

namespace garner::crawl {

inline constexpr std::uint64_t mix_before = 0x9e3779b97f4a7c15, mix_after = 0xbf58476d1ce4e5b9;   // odd

constexpr std::uint64_t inverse_of_odd(std::uint64_t odd) {
    auto x = odd;   // correct in three bits, and in twice as many after each step (Newton)
    for (int i = 0; i < 5; ++i) x *= 2 - odd * x;
    return x;
}

/// Bijective; the upper bits depend on all bits of the number.
constexpr std::uint64_t mixed(std::uint64_t number) {
    number *= mix_before;
    number ^= number >> 32;
    return number * mix_after;
}

constexpr std::uint64_t unmixed(std::uint64_t number) {
    number *= inverse_of_odd(mix_after);
    number ^= number >> 32;
    return number * inverse_of_odd(mix_before);
}

static_assert(unmixed(mixed(0x0123456789abcdef)) == 0x0123456789abcdef);

}   // namespace garner::crawl
