// The table of caches of seen URLs by name.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "crawl/seen_cache.hpp"
#include "util/result.hpp"

namespace garner::catalog {

struct CacheRow {
    std::string_view name;
    std::string_view what;   // one line for --help
    crawl::MadeCache (*make)(crawl::CacheOptions const&);
    std::span<policy::Setting const> settings = {};
    bool foresees = false;   // a reference for simulations: wants Foresight
};

/// All of them; a new one is one file and one row.
std::span<CacheRow const> seen_caches();

/// The text form of a cache: "NAME" or "NAME:setting=value:setting=value".
struct CacheSpec {
    CacheRow const* row;
    std::vector<double> values;
};
/// A fault if there is no such cache or setting.
Result<CacheSpec> read_cache_spec(std::string_view text);

/// The cache of that spec. The values in `options` are those of the spec.
crawl::MadeCache make_cache(std::string_view spec, crawl::CacheOptions options);

}   // namespace garner::catalog
