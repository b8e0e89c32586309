// What the memory tier is told.
#pragma once
#include <cstdint>
#include <string>

#include "util/bytes.hpp"

namespace garner::cache {

struct Options {
    Bytes size = 256 * MiB;        // the whole budget: bodies, heads, keys, index, policy, allocator rounding
    std::string policy = "garner";   // its spec; the configuration also has "auto", which is not the cache's to know
    bool what_if = true;           // its traffic is sampled, for what other policies and sizes would make of it
    Bytes object_max = 4 * MiB;    // the largest body kept
    double fill_share = 0.25;      // of `size`, for bodies still being received
    // No keys of the configuration:
    unsigned shards = 64;          // a power of two; fewer of them where each would have less than 256 KiB
    std::uint64_t seed = 0;        // of fingerprints and policies; 0: one that nobody can guess
};

/// The least size, from that of the options on, in which what index and policy take at the start leaves half for objects.
/// For a policy that exists.
Bytes least_size(Options const& options);

}  // namespace garner::cache
