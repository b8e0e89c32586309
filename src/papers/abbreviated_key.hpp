// Lampson's abbreviated keys: what a fingerprint's place in a table already says need not be kept with it.
#pragma once
#include <bit>
#include <string>

#include "crawl/seen_cache.hpp"
#include "util/check.hpp"

namespace garner::papers {

/// Of the first `bits` of a fingerprint the first `home_bits` choose its home; from home and rest the key is known again.
class KeySplit {
public:
    struct Key {
        std::uint64_t home, rest;
    };

    KeySplit(unsigned bits, unsigned home_bits) : unused_(64 - bits), rest_bits_(bits - home_bits) {
        check(bits <= 64 && home_bits <= bits);
    }
    Key of(Fingerprint url) const {
        auto const key = static_cast<unsigned __int128>(url >> unused_);
        auto const home = key >> rest_bits_;
        return {static_cast<std::uint64_t>(home), static_cast<std::uint64_t>(key - (home << rest_bits_))};
    }
    unsigned rest_bits() const { return rest_bits_; }
    /// Nothing of the fingerprint is left out.
    bool is_whole() const { return unused_ == 0; }

private:
    unsigned unused_, rest_bits_;
};

/// Of 2^r entries: r.
inline unsigned log2_of(std::uint64_t power) { return static_cast<unsigned>(std::countr_zero(power)); }

/// Empty for 2^r entries, else the fault.
inline std::string fault_unless_power_of_two(std::uint64_t entries) {
    if (std::has_single_bit(entries)) return {};
    auto const below = std::bit_floor(entries);
    return std::to_string(entries) + " entries: no power of two; take " + std::to_string(below) + " or " +
           std::to_string(2 * below);
}

}  // namespace garner::papers
