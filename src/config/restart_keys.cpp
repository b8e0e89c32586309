// The table of keys that need a restart.
#include "config/restart_keys.hpp"

namespace garner::config {
namespace {

struct RestartKey {
    std::string_view key;
    bool (*same)(Config const&, Config const&);
};

// Listening sockets and what each worker keeps of its own (resolver, pool, TLS) are made at the start, and so are the disk
// tier's file, index, buffers and threads.
constexpr RestartKey table_of_keys[]{
    {"listen", [](Config const& a, Config const& b) { return a.proxy.listen == b.proxy.listen; }},
    {"workers", [](Config const& a, Config const& b) { return a.workers == b.workers; }},
    {"user", [](Config const& a, Config const& b) { return a.user == b.user; }},
    {"memory.what_if", [](Config const& a, Config const& b) { return a.memory.what_if == b.memory.what_if; }},
    {"disk.path", [](Config const& a, Config const& b) { return a.disk.path == b.disk.path; }},
    {"disk.size", [](Config const& a, Config const& b) { return a.disk.size == b.disk.size; }},
    {"disk.policy", [](Config const& a, Config const& b) { return a.disk.policy == b.disk.policy; }},
    {"disk.buffer",   // unless it follows disk.size, which is named then
     [](Config const& a, Config const& b) { return a.disk.buffer == b.disk.buffer || a.disk.size != b.disk.size; }},
    {"disk.readers", [](Config const& a, Config const& b) { return a.disk.readers == b.disk.readers; }},
    {"dns", [](Config const& a, Config const& b) { return a.dns == b.dns; }},
    {"connect", [](Config const& a, Config const& b) { return a.connect == b.connect; }},
    {"tls", [](Config const& a, Config const& b) { return a.tls == b.tls; }},
    {"pool", [](Config const& a, Config const& b) { return a.pool == b.pool; }},
    {"limits.connections_max",
     [](Config const& a, Config const& b) { return a.proxy.limits.connections == b.proxy.limits.connections; }},
    {"via", [](Config const& a, Config const& b) { return a.proxy.via_name == b.proxy.via_name; }},
    {"log.access", [](Config const& a, Config const& b) { return a.proxy.log.access == b.proxy.log.access; }},
    {"log.format", [](Config const& a, Config const& b) { return a.proxy.log.format == b.proxy.log.format; }},
    {"icp.address",
     [](Config const& a, Config const& b) { return a.mesh.address == b.mesh.address && a.mesh.port == b.mesh.port; }},
    {"htcp.address",
     [](Config const& a, Config const& b) {
         return a.mesh.htcp.address == b.mesh.htcp.address && a.mesh.htcp.port == b.mesh.htcp.port;
     }},
    {"seen", [](Config const& a, Config const& b) { return a.seen == b.seen; }},
    {"admin", [](Config const& a, Config const& b) { return a.admin == b.admin; }},
};

}  // namespace

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

}  // namespace garner::config
