// A trace in memory: what was asked for, in order.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "util/bytes.hpp"

namespace garner::sim {

/// Requests in their order. Keys are numbered from 0 as they first appear, so that a replay hashes and compares words.
struct Trace {
    std::vector<std::uint32_t> keys;
    std::vector<Bytes> sizes;         // of each request, in bytes
    std::uint32_t distinct = 0;       // keys
    Bytes unique_bytes = 0;           // of each key's first size
    Bytes bytes = 0;                  // of all requests
    std::uint64_t requests_left_out = 0;   // for keys outside the sample
    Bytes bytes_left_out = 0;              // of those

    std::size_t requests() const { return keys.size(); }
};

}  // namespace garner::sim
