// The table of keys that require a takeover or a restart.
#include "config/takeover_keys.hpp"

#include <algorithm>

namespace garner::config {
namespace {

// The number of event loops and their samplers, the process's account, the URL set and its files, the member of a group, the ledger
// of quotas, and the socket that commands a reload are created at the start.
constexpr std::string_view table_of_keys[]{"control",        "group.address", "group.domain", "group.downlink", "group.lease",
                                           "group.member",   "group.name",    "group.secret", "group.uplink",   "group.voters",
                                           "memory.what_if", "seen",          "state",        "user",           "workers"};

}   // namespace

std::span<std::string_view const> takeover_keys() { return table_of_keys; }

bool needs_takeover(std::string_view key) {
    return std::ranges::any_of(table_of_keys, [key](std::string_view part) {
        if (!key.starts_with(part)) return false;
        auto const rest = key.substr(part.size());
        return rest.empty() || rest.front() == '.' || rest.front() == '[';
    });
}

}   // namespace garner::config
