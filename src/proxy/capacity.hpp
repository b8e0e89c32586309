// How many connections the limit of open files allows.
#pragma once
#include <cstdint>

namespace garner::proxy {

struct Capacity {
    std::uint32_t connections = 0;       // of clients
    std::uint32_t idle_to_origins = 0;   // of all workers
    std::uint32_t refreshes = 0;         // of each worker at a time
    std::int64_t pipes = 0;              // of tunnels
    std::uint32_t attempts = 0;          // to connect to an origin, beside the first one of each connection
};

/// For a limit of that many open files.
Capacity capacity_of(std::uint64_t files);

/// Raises the limit of open files as far as the process may, and returns it.
std::uint64_t raise_file_limit();

}   // namespace garner::proxy
