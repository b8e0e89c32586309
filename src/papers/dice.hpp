// Random numbers for randomized policies: small, fast, and reproducible from the seed on every machine.
#pragma once
#include <cstdint>

namespace garner::papers {

/// Weyl sequence with a mixer (Steele, Lea, Flood 2014: SplitMix64).
class Dice {
public:
    explicit Dice(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() { return mixed(state_ += 0x9e3779b97f4a7c15); }
    /// From 0 to below `bound`, which is above 0.
    std::uint64_t below(std::uint64_t bound) {
        return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next()) * bound) >> 64);
    }
    /// From 0 to below 1.
    double share() { return static_cast<double>(next() >> 11) * 0x1p-53; }

    /// Bijective.
    static constexpr std::uint64_t mixed(std::uint64_t number) {
        number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
        number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
        return number ^ (number >> 31);
    }

private:
    std::uint64_t state_;
};

}   // namespace garner::papers
