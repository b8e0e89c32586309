// Traces for tests: small random ones, and those of tests/data/traces.
#pragma once
#include <random>
#include <unordered_map>
#include <vector>

#include "sim/trace.hpp"
#include "support/trace.hpp"

namespace garner::sim {

inline Trace trace_of(std::vector<test::TraceRequest> const& requests) {
    Trace trace;
    std::unordered_map<std::uint64_t, std::uint32_t> numbers;
    for (auto const& request : requests) {
        auto [number, is_new] = numbers.try_emplace(request.key, trace.distinct);
        if (is_new) ++trace.distinct, trace.unique_bytes += request.size;
        trace.keys.push_back(number->second);
        trace.sizes.push_back(request.size);
        trace.bytes += request.size;
    }
    return trace;
}

struct RandomTrace {
    std::size_t requests = 20;
    std::uint32_t keys = 6;
    Bytes largest = 1;   // each key has its own size from 1 to this
};

inline std::vector<test::TraceRequest> random_requests(std::uint64_t seed, RandomTrace kind) {
    std::mt19937_64 random(seed);
    std::vector<Bytes> sizes(kind.keys);
    for (auto& size : sizes) size = 1 + random() % kind.largest;
    std::vector<test::TraceRequest> requests(kind.requests);
    for (auto& request : requests) {
        request.key = std::min(random() % kind.keys, random() % kind.keys);   // low keys are more frequent
        request.size = sizes[request.key];
    }
    return requests;
}

}   // namespace garner::sim
