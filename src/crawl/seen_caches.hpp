// The table of caches of seen URLs by name.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "crawl/seen_cache.hpp"
#include "policy/options.hpp"

namespace garner::crawl {

class Foresight;

inline constexpr std::uint64_t cache_entries_max = std::uint64_t{1} << 31;

struct CacheOptions {
    std::uint64_t entries = 0;                       // from 1 to cache_entries_max; ignored by what has no bound
    std::uint64_t seed = 1;
    std::vector<double> values = {};                 // of the cache's settings, in their order; empty: all initial
    std::shared_ptr<Foresight const> foresight = {};  // of the whole stream, where the row asks for it

    double value(std::span<policy::Setting const> declared, std::size_t index) const {
        return index < values.size() ? values[index] : declared[index].initial;
    }
};

/// A cache, or why there is none: one line that names the number that does not fit and the next ones that do.
struct MadeCache {
    std::unique_ptr<SeenCache> cache;
    std::string fault;
};

struct CacheRow {
    std::string_view name;
    std::string_view what;                           // one line for --help
    MadeCache (*make)(CacheOptions const&);
    std::span<policy::Setting const> settings = {};
    bool foresees = false;                           // a reference for simulations: wants Foresight
};

/// All of them; a new one is one file and one row.
std::span<CacheRow const> seen_caches();

/// A cache as people write it: "NAME" or "NAME:setting=value:setting=value".
struct CacheSpec {
    CacheRow const* row = nullptr;                   // nullptr: there is no such cache or setting, see `fault`
    std::vector<double> values;
    std::string fault;                               // one line that names what is wrong and the mend
};
CacheSpec read_cache_spec(std::string_view text);

/// The cache of that spec. The values in `options` are those of the spec.
MadeCache make_cache(std::string_view spec, CacheOptions options);

}  // namespace garner::crawl
