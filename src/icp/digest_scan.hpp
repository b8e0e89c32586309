// Our own digest in the making: what is stored is walked over in short steps, and what others may count on goes in.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/cache.hpp"
#include "icp/digest.hpp"
#include "util/clock.hpp"

namespace garner::icp {

/// The URL under which a stored object goes into a digest: it is of the forward partition, whole, no error, fresh till
/// then, and its URL has no variants but by Accept-Encoding (a client of another cache takes one of those, too).
std::optional<std::string_view> digested_url(store::Object const&, WallTime fresh_till);

/// Used by one thread; the cache may be used by all meanwhile.
class DigestScan {
public:
    DigestScan(cache::Cache const& cache, WallTime fresh_till);

    /// Some tens of microseconds. False when all has been seen.
    bool step();
    /// What lies on disk alone is told by who reads it there.
    void add(store::Object const& object);
    std::uint64_t entries() const { return builder_.entries(); }
    std::string finish() && { return std::move(builder_).finish(); }

private:
    cache::Cache const& cache_;
    WallTime fresh_till_;
    cache::MemoryTier::Walk walk_;
    DigestBuilder builder_;
    std::vector<store::ObjectPtr> met_;
};

}  // namespace garner::icp
