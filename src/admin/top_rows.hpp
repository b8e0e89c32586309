// The lists of hosts, clients and missed URLs with the most requests, over all workers. Pure.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "proxy/top_lists.hpp"

namespace garner::admin {

struct TopRow {
    std::string name;
    std::uint64_t requests = 0;
    Bytes bytes = 0;   // sent to clients
    std::uint64_t hits = 0;
    std::string reason = {};   // of a miss; empty: none is known
};

/// Most requests first, at most 32 rows each.
struct TopTables {
    static constexpr std::size_t rows_max = 32;
    std::vector<TopRow> hosts, clients, misses;
};

TopTables merge_lists(std::span<std::unique_ptr<proxy::TopLists::Copy> const> of_workers);

}   // namespace garner::admin
