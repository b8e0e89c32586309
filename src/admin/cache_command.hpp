// garner cache: lists, counts, verifies and purges the objects of the cache.
#pragma once
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>

#include "store/disk_options.hpp"

namespace garner::store {
class DiskStore;
}

namespace garner::admin {

struct CacheCommand {
    enum class Kind : std::uint8_t { list, stats, verify, purge };
    Kind kind = Kind::stats;
    std::string pattern = {};            // purge; list: empty for all
    bool json = false;                   // list: a line for each object
    Bytes rate = 100 * MiB;              // verify: bytes a second that are read at most; 0: any
    std::string address = {};            // the running proxy's admin address; empty: it has none
    std::uint16_t port = 3131;
    store::DiskOptions disk = {};        // as configured
    /// Opens the store of a proxy that does not run: DiskStore::open.
    std::function<std::unique_ptr<store::DiskStore>(store::DiskOptions const&, std::string& fault)> open = {};
};

/// Asks the running proxy that has this store. If no proxy runs, it opens the store itself, and no proxy can start
/// meanwhile. The exit code: 0 done; 1 nothing was purged, something was damaged, or there is no such cache;
/// 2 a wrong address. The answer goes to `out`, troubles and how far it is to `err`.
int run_cache_command(CacheCommand const&, std::ostream& out, std::ostream& err);

}  // namespace garner::admin
