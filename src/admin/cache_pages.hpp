// Pages of the objects in the cache. `garner cache ls`, `verify` and `purge` request one after the other, from a running
// proxy's admin address or from a store that they have opened themselves.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "cache/cache.hpp"
#include "util/result.hpp"

namespace garner::admin {

struct PageQuestion {
    enum class What : std::uint8_t { list, verify, purge };
    What what = What::list;
    std::string pattern = {};   // list, purge: see UrlPattern
    std::string at = {};        // "next" of the previous page; empty: the first page
};

/// "list", "verify", "purge"
std::string_view name_of(PageQuestion::What);

/// A page covers one segment of the disk tier, or a part of memory: at most some tens of thousands of objects. Waits for
/// the disk. `cache` is nullptr if no proxy runs, `disk` if there is no disk tier; one of them is not null.
///
/// All pages have "next", null on the last one, and "done" of "of". A page of a list has "objects". One of verify counts
/// "records", "damaged" and "bytes". One of purge counts the "purged" objects, including memory, and reports whether that
/// is "durable". Fails on a page that does not exist.
Result<nlohmann::ordered_json> cache_page(cache::Cache* cache, store::DiskStore* disk, PageQuestion const& question);

/// The parts of a cache key: a URL in normal form, its partition, and the request fields that select a variant.
struct KeyParts {
    bool accelerator = false;
    std::string_view url;
    std::string_view variant;   // http::variant_key; empty: the URL has a single variant
    bool of_parts = false;      // the object holds parts of a response
};
KeyParts parts_of_key(std::string_view key);

}   // namespace garner::admin
