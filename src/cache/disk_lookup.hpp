// One lookup on disk, or with a former process, after a memory miss.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "cache/cache.hpp"

namespace garner::cache {

/// Serves one request; the query outlives it.
class DiskLookup {
public:
    DiskLookup(Cache& cache, Query const& query, net::Executor executor) : cache_(cache), query_(query), executor_(executor) {}

    /// See Cache::look_on_disk. False: the URL was purged or another response was stored during the read, so the
    /// lookup must be repeated.
    net::awaitable<bool> look(Lookup& found);
    /// See Cache::parts_from_disk.
    net::awaitable<store::ObjectPtr> find_parts();
    /// An invalidation has removed an object that was read.
    std::optional<http::ReuseReason> removed() const { return removed_; }

private:
    struct OnDisk {
        store::ObjectPtr object;
        store::ObjectPtr marker;     // for a URL with variants
        std::string variant;         // http::variant_key
        bool part_missing = false;   // there are parts, but not the requested ones
    };
    net::awaitable<OnDisk> find(bool variant_missing);
    net::awaitable<store::ObjectPtr> load(std::string_view key);
    net::awaitable<store::ObjectPtr> load_parts(std::string_view key);
    store::ObjectPtr unless_invalidated(store::ObjectPtr loaded);
    net::awaitable<store::ObjectPtr> into_memory(OnDisk& loaded);
    void keep_marker(store::Object const& marker, Fill const& by);
    Lookup look_again(bool whole);
    bool is_superseded(OnDisk const& found) const {
        return found.object && found.marker && found.object->sequence() < found.marker->sequence();
    }

    Cache& cache_;
    Query const& query_;
    net::Executor executor_;
    std::optional<http::ReuseReason> removed_;
    bool asks_former_ = false;
    bool from_disk_ = true;   // the last object that was loaded
};

}   // namespace garner::cache
