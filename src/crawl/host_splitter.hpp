// Assigns URLs to one of n crawling processes: Mercator's host splitter (Heydon, Najork 1999; Broder, Najork, Wiener
// 2003).
#pragma once
#include <cstdint>

#include "crawl/canonical_url.hpp"
#include "util/check.hpp"
#include "util/hash.hpp"

namespace garner::crawl {

/// The hash of the host without port and scheme, so that only one process contacts a host. Apply layers first, so
/// that all spellings of a URL go to one process.
inline std::uint64_t host_hash(CanonicalUrl const& url) {
    // Independent of the URL's fingerprint: the URLs of one process still have uniformly distributed fingerprints.
    constexpr std::uint64_t seed = 0x686f7374;
    return fingerprint(url.host(), seed);
}

class HostSplitter {
public:
    /// `partitions` is at least 1.
    explicit HostSplitter(std::uint32_t partitions) : partitions_(partitions) { check(partitions > 0); }

    std::uint32_t partitions() const { return partitions_; }

    /// From 0 to partitions() - 1; deterministic for a hash and a number of partitions.
    std::uint32_t partition_of(std::uint64_t hash) const {
        return static_cast<std::uint32_t>(static_cast<unsigned __int128>(hash) * partitions_ >> 64);
    }
    std::uint32_t partition_of(CanonicalUrl const& url) const { return partition_of(host_hash(url)); }

private:
    std::uint32_t partitions_;
};

}   // namespace garner::crawl
