// The other caches as readable text: for `garner peers`, `garner stats` and the admin page.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "admin/summary.hpp"

namespace garner::admin {

/// "peers" of /stats.json as a table with one line for each peer; nothing without peers.
std::optional<SummarySection> peers_table(nlohmann::ordered_json const& stats);
/// Aligned lines of text, at most 112 columns wide, or a line that reports that there are no peers.
std::string peers_text(nlohmann::ordered_json const& stats);

}   // namespace garner::admin
