// The table of keys that need a restart.
#include "config/reload.hpp"

namespace garner::config {
namespace {

struct Row {
    std::string_view key;
    bool (*same)(Config const&, Config const&);
};

// Listening sockets belong to the workers, and the cache is laid out for its budget, policy and shards.
constexpr Row rows[]{
    {"listen", [](Config const& a, Config const& b) { return a.proxy.listen == b.proxy.listen; }},
    {"workers", [](Config const& a, Config const& b) { return a.workers == b.workers; }},
    {"memory.size", [](Config const& a, Config const& b) { return a.memory.size == b.memory.size; }},
    {"memory.policy", [](Config const& a, Config const& b) { return a.memory.policy == b.memory.policy; }},
    {"memory.object_max", [](Config const& a, Config const& b) { return a.memory.object_max == b.memory.object_max; }},
    {"memory.fill_share", [](Config const& a, Config const& b) { return a.memory.fill_share == b.memory.fill_share; }},
    {"memory.shards", [](Config const& a, Config const& b) { return a.memory.shards == b.memory.shards; }},
    {"memory.variants_per_url",
     [](Config const& a, Config const& b) { return a.memory.variants_per_url == b.memory.variants_per_url; }},
    {"admin.address", [](Config const& a, Config const& b) { return a.admin == b.admin; }},
};

}  // namespace

std::vector<std::string_view> restart_keys() {
    std::vector<std::string_view> keys;
    for (Row const& row : rows) keys.push_back(row.key);
    return keys;
}

std::vector<std::string> cannot_change(Config const& running, Config const& fresh) {
    std::vector<std::string> keys;
    for (Row const& row : rows)
        if (!row.same(running, fresh)) keys.emplace_back(row.key);
    return keys;
}

}  // namespace garner::config
