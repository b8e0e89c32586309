#include "papers/bloom.hpp"

#include <cmath>

namespace garner::papers {

BloomPositions BloomSettings::positions(crawl::CacheOptions const& options) {
    auto const hashes = std::round(options.value(settings, 0));
    auto const bits = bloom_bits(static_cast<double>(options.entries), hashes, options.value(settings, 1));
    return {static_cast<std::uint64_t>(std::ceil(bits)), static_cast<unsigned>(hashes), options.seed};
}

double bloom_bits(double entries, double hashes, double false_positives) {
    return -hashes * entries / std::log1p(-std::pow(false_positives, 1 / hashes));
}

}  // namespace garner::papers
