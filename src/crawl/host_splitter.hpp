// Which of n crawling processes has a URL: Mercator's host splitter (Heydon, Najork 1999; Broder, Najork, Wiener 2003).
#pragma once
#include <cstdint>

#include "crawl/canonical_url.hpp"
#include "util/check.hpp"
#include "util/hash.hpp"

namespace garner::crawl {

/// Of the host alone, without port and scheme, so that one process speaks to a host; as the layers have left it, so that all
/// texts of a URL go to one process.
inline std::uint64_t host_hash(CanonicalUrl const& url) {
    // Not the fingerprint of a URL: what one process holds is still spread over all of its fingerprints.
    constexpr std::uint64_t seed = 0x686f7374;
    return fingerprint(url.host(), seed);
}

class HostSplitter {
public:
    /// At least one.
    explicit HostSplitter(std::uint32_t partitions) : partitions_(partitions) { check(partitions > 0); }

    std::uint32_t partitions() const { return partitions_; }

    /// From 0 to partitions() - 1, always the same for one hash and one number of partitions.
    std::uint32_t partition_of(std::uint64_t hash) const {
        return static_cast<std::uint32_t>(static_cast<unsigned __int128>(hash) * partitions_ >> 64);
    }
    std::uint32_t partition_of(CanonicalUrl const& url) const { return partition_of(host_hash(url)); }

private:
    std::uint32_t partitions_;
};

}  // namespace garner::crawl
