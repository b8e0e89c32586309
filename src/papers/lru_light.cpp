#include "papers/lru_light.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace garner::papers {

namespace {

std::uint64_t lru_share(crawl::CacheOptions const& options) {
    auto const share = options.value(LruLight::declared(), 3);
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(share * static_cast<double>(options.entries))));
}

// The rest; one at least.
crawl::CacheOptions filter_options(crawl::CacheOptions options) {
    options.entries = std::max<std::uint64_t>(1, options.entries - std::min(options.entries, lru_share(options)));
    return options;
}

}  // namespace

std::span<policy::Setting const> LruLight::declared() {
    static std::array const settings{
        StableShape::declared()[0],
        StableShape::declared()[1],
        StableShape::declared()[2],
        policy::Setting{"lru", "LRU's share of the entries", 0.1, 0, 1},
    };
    return settings;
}

LruLight::LruLight(crawl::CacheOptions const& options)
    : LruLight(lru_share(options), StableShape::of(filter_options(options)), filter_options(options).entries,
               options.seed) {}

bool LruLight::look(Fingerprint url) {
    auto const use = lru_.use(url);
    if (use.held) return true;
    // Asked before what left for it is put in.
    bool const held = filter_.holds(url);
    if (use.left) filter_.put(*use.left);
    return held;
}

}  // namespace garner::papers
