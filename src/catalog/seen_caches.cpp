#include "catalog/seen_caches.hpp"

#include <algorithm>
#include <array>

#include "crawl/line_cache.hpp"
#include "crawl/lru_cache.hpp"
#include "papers/bloom.hpp"
#include "papers/compact_tables.hpp"
#include "papers/lru_light.hpp"
#include "papers/references.hpp"
#include "papers/slotted.hpp"
#include "papers/stable_bloom.hpp"
#include "papers/window_filters.hpp"
#include "util/option_words.hpp"

namespace garner::catalog {
namespace {

using namespace papers;

template <class Cache>
crawl::MadeCache make_one(crawl::CacheOptions const& options) {
    return std::make_unique<Cache>(options);
}

constexpr std::array cache_rows{
    CacheRow{"lru", "evicts the least recently used entry", make_one<crawl::Lru>},
    CacheRow{"clock", "a hand skips entries that were requested again, and evicts the next one", make_one<Clock>},
    CacheRow{"random", "evicts an entry at random", make_one<Random>},
    CacheRow{"chaining", "CLOCK or RANDOM in direct circular chaining: l + 8 bits", CompactTables::make_chaining,
             CompactTables::chaining_settings},
    CacheRow{"scatter", "CLOCK or RANDOM in a scatter table with circular lists: l + 2 bits", CompactTables::make_scatter,
             CompactTables::scatter_settings},
    CacheRow{"bloom", "Bloom filter: forgets nothing, so its false positives increase", make_one<EverFilter<BloomBits>>,
             BloomSettings::settings},
    CacheRow{"cbf", "Bloom filter of counters, as in filters that forget", make_one<EverFilter<BloomCounters>>,
             BloomSettings::settings},
    CacheRow{"sbf", "Stable Bloom Filter: counters, some decremented at random with each insertion", make_one<StableBloom>,
             StableShape::settings},
    CacheRow{"sbfl", "Stable Bloom Filter Light: like sbf, but decremented in turn", make_one<StableBloomLight>,
             StableShape::settings},
    CacheRow{"lru-sbfl", "LRU; evicted entries go into a Stable Bloom Filter Light", make_one<LruLight>, LruLight::settings},
    CacheRow{"landmark", "Bloom filter, emptied each time `entries` URLs were requested", make_one<LandmarkWindow>,
             BloomSettings::settings},
    CacheRow{"sliding", "filter of counters over the latest requests, which it stores", make_one<SlidingWindow>,
             BloomSettings::settings},
    CacheRow{"jumping", "a filter for each part of a window; the oldest is emptied at once", make_one<JumpingWindow>,
             JumpingWindow::settings},
    CacheRow{"line", "8 fingerprints in a cache line, in LRU order: 64 bits, the fastest", crawl::make_line,
             crawl::LineSettings::settings},
    CacheRow{"line32", "16 tags in a cache line: 32 bits, one error in 2.7e8", crawl::make_line32, crawl::LineSettings::settings},
    CacheRow{"quotient", "10 quotients of fingerprints in a cache line: 51.2 bits, exact; from 81930 entries", crawl::make_quotient,
             crawl::LineSettings::settings},
    CacheRow{"infinite", "reference: evicts nothing", make_one<Infinite>},
    CacheRow{"min", "reference: evicts the entry whose next request is furthest; no cache can miss less", make_one<Min>, {}, true},
    CacheRow{"static", "reference: holds the most popular URLs of the stream from its beginning", make_one<Static>, {}, true},
};

}   // namespace

std::span<CacheRow const> seen_caches() { return cache_rows; }

Result<CacheSpec> read_cache_spec(std::string_view text) {
    auto const name = text.substr(0, text.find(':'));
    auto const settings = text.substr(std::min(text.size(), name.size() + 1));
    auto const row = std::ranges::find(cache_rows, name, &CacheRow::name);
    if (row == cache_rows.end()) return Fault{"no cache \"" + std::string(name) + "\"", "valid caches: " + names_of(cache_rows)};
    auto values = policy::read_settings(settings, row->settings);
    if (!values) return values.fault().at(std::string(name));
    return CacheSpec{&*row, *std::move(values)};
}

crawl::MadeCache make_cache(std::string_view text, crawl::CacheOptions options) {
    auto spec = read_cache_spec(text);
    if (!spec) return spec.fault();
    if (options.entries < 1 || options.entries > crawl::cache_entries_max)
        return Fault{std::to_string(options.entries) + " entries: the limits are 1 and 2^31"};
    options.values = std::move(spec->values);
    return spec->row->make(options);
}

}   // namespace garner::catalog
