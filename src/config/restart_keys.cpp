// The table of keys that require a restart.
#include "config/restart_keys.hpp"

#include <utility>

namespace garner::config {
namespace {

struct RestartKey {
    std::string_view key;
    bool (*same)(Config const&, Config const&);
};

/// Whether `part` of both is equal.
template <auto part>
bool same(Config const& a, Config const& b) {
    return part(a) == part(b);
}

/// The listeners without the keys that a reload applies.
std::vector<proxy::Listen> sockets_of(Config const& config) {
    auto listeners = config.proxy.listen;
    for (auto& listener : listeners) {
        listener.http2 = true;
        listener.tls.reset();
    }
    return listeners;
}

// Listening sockets and each worker's own state (resolver, pool, TLS) are created at the start, and so are the disk tier's
// file, index, buffers and threads.
constexpr RestartKey table_of_keys[]{
    {"listen", same<sockets_of>},
    {"workers", same<[](Config const& c) { return c.workers; }>},
    {"user", same<[](Config const& c) { return c.user; }>},
    {"memory.what_if", same<[](Config const& c) { return c.memory.what_if; }>},
    {"disk.path", same<[](Config const& c) { return c.disk.path; }>},
    {"disk.size", same<[](Config const& c) { return c.disk.size; }>},
    {"disk.policy", same<[](Config const& c) { return c.disk.policy; }>},
    {"disk.buffer",   // if it follows disk.size, only disk.size is reported
     [](Config const& a, Config const& b) { return a.disk.buffer == b.disk.buffer || a.disk.size != b.disk.size; }},
    {"disk.readers", same<[](Config const& c) { return c.disk.readers; }>},
    {"dns", same<[](Config const& c) { return c.dns; }>},
    {"connect", same<[](Config const& c) { return c.connect; }>},
    {"tls", same<[](Config const& c) { return c.tls; }>},
    {"pool", same<[](Config const& c) { return c.pool; }>},
    {"auth.threads",   // started with the first sources
     [](Config const& a, Config const& b) { return a.auth.threads == b.auth.threads || a.auth.sources.empty(); }},
    {"limits.connections_max", same<[](Config const& c) { return c.proxy.limits.connections; }>},
    {"via", same<[](Config const& c) { return c.proxy.via_name; }>},
    {"log.access", same<[](Config const& c) { return c.proxy.log.access; }>},
    {"log.format", same<[](Config const& c) { return c.proxy.log.format; }>},
    {"icp.address", same<[](Config const& c) { return std::pair(c.mesh.address, c.mesh.port); }>},
    {"htcp.address", same<[](Config const& c) { return std::pair(c.mesh.htcp.address, c.mesh.htcp.port); }>},
    {"seen", same<[](Config const& c) { return c.seen; }>},
    {"admin", same<[](Config const& c) { return c.admin; }>},
};

}   // namespace

std::vector<std::string_view> restart_keys() {
    std::vector<std::string_view> keys;
    for (RestartKey const& row : table_of_keys) keys.push_back(row.key);
    return keys;
}

std::vector<std::string> cannot_change(Config const& running, Config const& fresh) {
    std::vector<std::string> keys;
    for (RestartKey const& row : table_of_keys)
        if (!row.same(running, fresh)) keys.emplace_back(row.key);
    return keys;
}

}   // namespace garner::config
