// Random numbers that are the same with every compiler and library.
#pragma once
#include <cstdint>

namespace garner::group::simulated {

class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t bits() {   // splitmix64
        auto z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }
    /// 0 to `most` - 1.
    std::int64_t below(std::int64_t most) { return static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(most)); }
    std::int64_t between(std::int64_t least, std::int64_t most) { return least + below(most - least + 1); }
    bool one_in(std::int64_t n) { return below(n) == 0; }

private:
    std::uint64_t state_;
};

}   // namespace garner::group::simulated
