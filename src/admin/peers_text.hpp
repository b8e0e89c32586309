// The other caches in a person's words: for `garner peers`, `garner stats` and the page.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "admin/summary.hpp"

namespace garner::admin {

/// "peers" of /stats.json as a table of one line a peer; nothing without peers.
std::optional<SummarySection> peers_table(nlohmann::ordered_json const& stats);
/// Aligned lines of text, at most 100 columns wide, or a line that says there are none.
std::string peers_text(nlohmann::ordered_json const& stats);

}  // namespace garner::admin
