// The differences between two configurations, key by key.
#pragma once
#include <string>
#include <vector>

#include "config/document.hpp"

namespace garner::config {

struct KeyChange {
    std::string key;             // "memory.size", "listen[0].address"
    std::string before, after;   // JSON; empty for a secret

    /// "memory.size: "64 MiB" -> "1 GiB"", "htcp.secret: (changed)".
    std::string text() const { return key + ": " + (after.empty() ? "(changed)" : before + " -> " + after); }
    friend bool operator==(KeyChange const&, KeyChange const&) = default;
};

/// The keys whose values differ, in the order of their names. A key that is absent has its default value, or "(none)". Sizes and
/// times are compared without their units, and a list of one value is equal to the value. Both must be valid configurations.
std::vector<KeyChange> key_changes(Json const& before, Json const& after);

}   // namespace garner::config
