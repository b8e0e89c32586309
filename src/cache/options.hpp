// Options of the memory tier.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "http/matcher.hpp"
#include "util/bytes.hpp"

namespace garner::cache {

struct Options {
    Bytes size = 256 * MiB;          // the whole budget: bodies, heads, keys, index, policy, allocator rounding
    std::string policy = "garner";   // its spec; "auto" of the configuration is resolved before
    bool what_if = true;             // sample the traffic to simulate other policies and sizes
    Bytes object_max = 4 * MiB;      // the largest body stored
    double fill_share = 0.25;        // fraction of `size` for bodies being received
    std::string save = {};           // file for the objects between two runs; empty: none
    // Not configurable:
    unsigned shards = 64;     // a power of two; fewer if each would have less than 256 KiB
    std::uint64_t seed = 0;   // seed of fingerprints and policies; 0: a random one
};

/// Invalidations of many objects at once: the section `group`.
struct InvalidationOptions {
    std::vector<http::Matcher> objects = {};   // what they concern, by the URL; empty: everything
    std::vector<std::string> tag_fields = {"Cache-Groups", "Surrogate-Key", "Cache-Tag"};
    bool unsafe = true;                          // Cache-Group-Invalidation in responses to unsafe requests is obeyed
    std::vector<http::Matcher> replicate = {};   // the URLs of objects that are offered to the group; empty: none
    bool serves_cut_off = false;                 // without leases of the group: responses are used all the same
};

/// The smallest size, from options.size on, at which the initial index and policy leave half of it for objects. The
/// policy must exist.
Bytes least_size(Options const& options);

}   // namespace garner::cache
