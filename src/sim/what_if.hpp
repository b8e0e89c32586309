// What other policies and sizes would have made of the same traffic.
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
        std::string policy;               // its spec
        Bytes size = 0;                   // of the whole cache, not of its miniature
        std::uint64_t misses = 0;
        Bytes missed_bytes = 0;
    };
    double rate = 0;                      // of the keys that are sampled
    std::uint64_t requests = 0;           // sampled, that the estimate stands on
    double expected_requests = 0;         // the sample would have, were it a true miniature of all requests
    double expected_bytes = 0;            // the same of the bytes asked for
    double seconds = 0;                   // since the first of them
    Bytes capacity = 0;                   // of the running cache: the size that is the same
    Bytes metadata = 0;                   // memory that all this takes
    std::uint64_t epoch = 0;              // counts of different epochs cannot be subtracted from each other
    std::vector<Row> rows;                // by policy, then by size

    /// Fewer tell nothing.
    static constexpr std::uint64_t requests_wanted = 1'000;
    bool is_enough() const { return requests >= requests_wanted; }

    /// 0 to 1. Where a few keys are asked for most, the sample has too many requests or too few by those of them that it
    /// has or lacks. They are hits at every size: what is missing or too much counts as hits (SHARDS_adj).
    double object_hit_ratio(Row const& row) const { return share_hit(row.misses, expected_requests); }
    double byte_hit_ratio(Row const& row) const { return share_hit(row.missed_bytes, expected_bytes); }

private:
    static double share_hit(std::uint64_t missed, double all) {
        return all > 0 ? std::max(0.0, 1 - static_cast<double>(missed) / all) : 0;
    }
};

}  // namespace garner::sim
