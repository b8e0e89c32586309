// The estimated results of other policies and sizes for the same traffic.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "util/bytes.hpp"

namespace garner::sim {

/// An estimate, from a sample of the requests.
struct WhatIf {
    struct Row {
        std::string policy;   // its spec
        Bytes size = 0;       // size of the whole cache, rather than its miniature
        std::uint64_t misses = 0;
        Bytes missed_bytes = 0;
    };
    double rate = 0;                // fraction of the keys that is sampled
    std::uint64_t requests = 0;     // sampled requests that the estimate is based on
    double expected_requests = 0;   // requests that an exactly proportional sample would have
    double expected_bytes = 0;      // bytes that such a sample would have
    double seconds = 0;             // since the first of the requests
    Bytes capacity = 0;             // size of the running cache
    Bytes metadata = 0;             // memory of the whole simulation
    Bytes metadata_max = 0;
    std::uint64_t epoch = 0;   // counts of different epochs cannot be subtracted from each other
    std::vector<Row> rows;     // by policy, then by size

    /// With fewer requests the estimate is unreliable.
    static constexpr std::uint64_t requests_wanted = 1'000;
    bool is_enough() const { return requests >= requests_wanted; }

    /// 0 to 1. If a few keys get most requests, the sample has too many or too few requests, depending on whether it
    /// includes these keys. They hit at every size, so the difference counts as hits (SHARDS_adj). At 1/16
    /// of two million requests the error is then within half a point, and within 14 otherwise.
    double object_hit_ratio(Row const& row) const { return share_hit(row.misses, expected_requests); }
    double byte_hit_ratio(Row const& row) const { return share_hit(row.missed_bytes, expected_bytes); }

private:
    static double share_hit(std::uint64_t missed, double all) {
        return all > 0 ? std::max(0.0, 1 - static_cast<double>(missed) / all) : 0;
    }
};

}   // namespace garner::sim
