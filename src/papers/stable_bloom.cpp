#include "papers/stable_bloom.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "papers/bloom_formulas.hpp"

namespace garner::papers {

std::span<policy::Setting const> StableShape::declared() {
    static constexpr std::array settings{
        policy::Setting{"k", "hashes", 4, 1, 16},
        policy::Setting{"fpr", "false positives to come to rest at, by equation 3.3", 0.01, 1e-9, 0.5},
        policy::Setting{"p", "counters decremented at each insertion; 0: by fpr", 0, 0, 100'000},
    };
    return settings;
}

StableShape StableShape::of(crawl::CacheOptions const& options) {
    auto const hashes = std::round(options.value(declared(), 0));
    auto decrements = std::round(options.value(declared(), 2));
    // So many counters that their number does not matter in the equation.
    if (decrements == 0)
        decrements = std::ceil(stable_decrements(options.value(declared(), 1), hashes, SmallCounters::highest, 1e12));
    auto const counters = std::ceil(static_cast<double>(options.entries) * decrements / (SmallCounters::highest - 1));
    return {.counters = std::max<std::uint64_t>(static_cast<std::uint64_t>(counters), SmallCounters::per_word),
            .hashes = static_cast<unsigned>(hashes),
            .decrements = static_cast<unsigned>(decrements)};
}

}  // namespace garner::papers
