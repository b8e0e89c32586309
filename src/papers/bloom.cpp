#include "papers/bloom.hpp"

#include <array>
#include <cmath>

#include "papers/bloom_formulas.hpp"

namespace garner::papers {

std::span<policy::Setting const> BloomSettings::declared() {
    static constexpr std::array settings{
        policy::Setting{"k", "hashes", 4, 1, 16},
        policy::Setting{"fpr", "false positives when `entries` are in it", 0.01, 1e-9, 0.5},
    };
    return settings;
}

BloomPlaces BloomSettings::places(crawl::CacheOptions const& options) {
    auto const hashes = std::round(options.value(declared(), 0));
    auto const bits = bloom_bits(static_cast<double>(options.entries), hashes, options.value(declared(), 1));
    return {static_cast<std::uint64_t>(std::ceil(bits)), static_cast<unsigned>(hashes), options.seed};
}

bool BloomBits::holds(Fingerprint url) const {
    bool all = true;
    places_.each(url, [&](std::uint64_t place) { all &= is_set(place); });
    return all;
}

void BloomBits::put(Fingerprint url) {
    places_.each(url, [&](std::uint64_t place) { set(place); });
}

bool BloomCounters::holds(Fingerprint url) const {
    bool all = true;
    places_.each(url, [&](std::uint64_t place) { all &= value(place) > 0; });
    return all;
}

void BloomCounters::put(Fingerprint url) {
    places_.each(url, [&](std::uint64_t place) { count_up(place); });
}

void BloomCounters::take_out(Fingerprint url) {
    places_.each(url, [&](std::uint64_t place) { count_down(place); });
}

void BloomCounters::count_up(std::uint64_t place) {
    if (value(place) < 15) words_[place / 16] += std::uint64_t{1} << shift(place);
}

void BloomCounters::count_down(std::uint64_t place) {
    if (auto const now = value(place); now > 0 && now < 15) words_[place / 16] -= std::uint64_t{1} << shift(place);
}

}  // namespace garner::papers
