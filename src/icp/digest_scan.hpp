// Builds this cache's own digest: scans the stored objects in short steps, and adds those that other caches may rely on.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/cache.hpp"
#include "icp/digest.hpp"
#include "util/clock.hpp"

namespace garner::icp {

/// The URL under which a stored object enters a digest. The object must be complete, no error, in the forward partition and
/// fresh until `fresh_till`. Its URL may vary by Accept-Encoding only: a client of another cache accepts one of those
/// variants, too.
std::optional<std::string_view> digested_url(store::Object const&, WallTime fresh_till);

/// Builds two digests: with and without https:// URLs. Used by one thread; the cache may be used by others meanwhile.
class DigestScan {
public:
    DigestScan(cache::Cache const& cache, WallTime fresh_till);

    /// Takes some tens of microseconds. False when all objects were scanned.
    bool step();
    /// Adds an object that is on disk only; the caller reads it.
    void add(store::Object const& object);
    /// Counts the entries of the digest of all URLs.
    std::uint64_t entries() const { return all_.entries(); }
    struct Digests {
        std::string all;
        std::string without_https;
    };
    Digests finish() &&;

private:
    cache::Cache const& cache_;
    WallTime fresh_till_;
    cache::MemoryTier::Walk walk_;
    DigestBuilder all_;
    DigestBuilder without_https_;
    std::vector<store::ObjectPtr> met_;
};

}   // namespace garner::icp
