// The memory of the process by part, each with the most that the configuration allows.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "util/bytes.hpp"

namespace garner::proxy {
class Server;
}

namespace garner::admin {

struct Figures;
struct MemorySources;

struct MemoryUse {
    Bytes bytes = 0;
    Bytes limit = 0;   // 0: the configuration does not use this part
};

/// Everything that grows with traffic is in one part. To add one, add a row in memory_parts.cpp, and to docs/reference/metrics.md
/// the line that the test prints.
struct MemoryPart {
    std::string_view name;    // the label of the metrics: "dns_names"
    std::string_view holds;   // for the reference
    std::string_view limit;   // for the reference: how the limit follows from the configuration
    MemoryUse (*take)(MemorySources const&);
    bool is_inside = false;   // its limit is part of another part's
};
std::span<MemoryPart const> memory_parts();

/// One for each of memory_parts(). `figures`: all others. Called on the admin thread.
std::vector<MemoryUse> take_memory(proxy::Server& server, Figures const& figures);
/// Counts each byte and each limit once. Zero if `uses` is empty.
MemoryUse sum_of(std::span<MemoryUse const> uses);

/// Of the process; 0 if /proc is not mounted.
Bytes resident_bytes();

}   // namespace garner::admin
