// A trace in memory: its requests in order.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "util/bytes.hpp"

namespace garner::sim {

/// Requests in order. Keys are numbered from 0 in order of appearance, so that a replay hashes and compares integers.
struct Trace {
    std::vector<std::uint32_t> keys;
    std::vector<Bytes> sizes;              // size of each request in bytes
    std::uint32_t distinct = 0;            // keys
    Bytes unique_bytes = 0;                // sum over each key's first size
    Bytes bytes = 0;                       // the total over all requests
    std::uint64_t requests_left_out = 0;   // for keys outside the sample
    Bytes bytes_left_out = 0;              // the bytes of those

    std::size_t requests() const { return keys.size(); }
};

}   // namespace garner::sim
