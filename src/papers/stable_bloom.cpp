#include "papers/stable_bloom.hpp"

#include <algorithm>
#include <cmath>

namespace garner::papers {

StableShape StableShape::of(crawl::CacheOptions const& options) {
    auto const hashes = std::round(options.value(settings, 0));
    auto decrements = std::round(options.value(settings, 2));
    // So many counters that their number does not matter in the equation.
    if (decrements == 0)
        decrements = std::ceil(stable_decrements(options.value(settings, 1), hashes, SmallCounters::highest, 1e12));
    auto const counters = std::ceil(static_cast<double>(options.entries) * decrements / (SmallCounters::highest - 1));
    return {.counters = std::max<std::uint64_t>(static_cast<std::uint64_t>(counters), SmallCounters::per_word),
            .hashes = static_cast<unsigned>(hashes),
            .decrements = static_cast<unsigned>(decrements)};
}

double stable_decrements(double false_positives, double hashes, double most, double counters) {
    auto const zero = 1 - std::pow(false_positives, 1 / hashes);   // share of counters that are
    return 1 / ((std::pow(zero, -1 / most) - 1) * (1 / hashes - 1 / counters));
}

}  // namespace garner::papers
