// The result of replaying a trace through one cache.
#pragma once
#include <cstdint>
#include <string>

#include "util/bytes.hpp"

namespace garner::sim {

struct Result {
    std::string policy;   // its spec, or the name of an offline reference
    Bytes size = 0;       // the cache size in bytes
    std::uint64_t requests = 0;
    double misses = 0;   // an integer, unless a bound counts a part of an object
    Bytes bytes = 0;     // requested
    double missed_bytes = 0;
    double seconds = 0;               // time of the replay only; 0 if it was not measured
    Bytes metadata = 0;               // index and policy
    std::uint64_t objects_most = 0;   // held at once

    double object_miss_ratio() const { return requests ? misses / static_cast<double>(requests) : 0; }
    double byte_miss_ratio() const { return bytes ? missed_bytes / static_cast<double>(bytes) : 0; }
    double requests_per_second() const { return seconds > 0 ? static_cast<double>(requests) / seconds : 0; }
    double metadata_per_object() const {
        return objects_most ? static_cast<double>(metadata) / static_cast<double>(objects_most) : 0;
    }
};

}   // namespace garner::sim
