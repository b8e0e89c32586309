// garner cache: lists, counts, verifies and purges the objects of the cache.
#pragma once
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>

#include "store/disk_options.hpp"
#include "util/result.hpp"

namespace garner::store {
class DiskStore;
}

namespace garner::admin {

struct CacheCommand {
    enum class Kind : std::uint8_t { list, stats, verify, purge };
    Kind kind = Kind::stats;
    std::string pattern = {};   // purge; list: empty for all
    bool json = false;          // list: one line for each object
    Bytes rate = 100 * MiB;     // verify: most bytes per second to read; 0: no limit
    std::string address = {};   // the running proxy's admin address; empty: it has none
    std::uint16_t port = 3131;
    std::string token = {};         // of admin.tokens; empty: none
    store::DiskOptions disk = {};   // the configured disk tier
    /// Opens the store when no proxy is running: DiskStore::open.
    std::function<Result<std::unique_ptr<store::DiskStore>>(store::DiskOptions const&)> open = {};
};

/// Asks the running proxy that has this store. If no proxy runs, it opens the store itself, and no proxy can start
/// meanwhile. Returns the exit code: 0 done; 1 nothing was purged, an object was damaged, or there is no such cache; 2 a
/// wrong address. Results go to `out`, errors and progress to `err`.
int run_cache_command(CacheCommand const&, std::ostream& out, std::ostream& err);

}   // namespace garner::admin
