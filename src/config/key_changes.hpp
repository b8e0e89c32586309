// The differences between two configurations, key by key.
#pragma once
#include <string>
#include <vector>

#include "config/document.hpp"

namespace garner::config {

struct KeyChange {
    std::string key;             // "memory.size", "listen[0].address"
    std::string before, after;   // JSON; empty for a secret
    bool waits = false;          // a reload leaves it as it is

    /// "memory.size: "64 MiB" -> "1 GiB" (now)", "workers: 2 -> 3 (takeover)", "htcp.secret: (changed) (now)".
    std::string text() const;
    friend bool operator==(KeyChange const&, KeyChange const&) = default;
};

/// The keys whose values differ, in the order of their names. A key that is absent has its default value, or "(none)". Sizes and
/// times are compared without their units, and a list of one value is equal to the value. Both must be valid configurations, with
/// the present names of keys (Loaded::root).
std::vector<KeyChange> key_changes(Json const& before, Json const& after);

/// The changes of a reload from `running` to `fresh`. Keys that need a takeover are compared with `started`, the configuration of
/// the start, because earlier reloads have left them as they were.
std::vector<KeyChange> changes_of_reload(Json const& started, Json const& running, Json const& fresh);

}   // namespace garner::config
