// Quotas as text for commands.
#pragma once
#include <string>

#include "admin/json_members.hpp"

namespace garner::admin {

/// "1.2 GB of 2 GB, slow lane of 1 Mbit/s, until 2026-12-01 00:00". `quota`: made by quota_json().
std::string quota_text(Json const& quota);

// Parts of it: "1.2 GB of 2 GB", "slow lane of 1 Mbit/s", "2026-12-01 00:00".
std::string quota_used_text(Json const& quota);
std::string quota_state_text(Json const& quota);
std::string quota_until_text(Json const& quota);

/// A line for each subject of the statistics.
std::string quotas_text(Json const& stats);

}   // namespace garner::admin
