// Detects the end of a burst, after which memory can be given back to the system.
#pragma once
#include <algorithm>
#include <cstdint>

namespace garner {

/// Pure.
class Burst {
public:
    static constexpr std::uint32_t least = 256;

    /// True once when at most a quarter is left of a peak of at least `least`.
    bool has_ended(std::uint32_t count) {
        peak_ = std::max(peak_, count);
        if (peak_ < least || count > peak_ / 4) return false;
        peak_ = count;
        return true;
    }

private:
    std::uint32_t peak_ = 0;   // since the last end
};

}   // namespace garner
