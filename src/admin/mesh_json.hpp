// The other caches as JSON: "peers" and "icp" of /stats.json. docs/metrics.md tells every name.
#pragma once
#include <nlohmann/json.hpp>
#include <string_view>

#include "admin/figures.hpp"

namespace garner::admin {

/// "alive", "suspect", "dead".
std::string_view name_of(icp::Health);
/// "parent", "sibling".
std::string_view name_of(icp::PeerOptions::Type);

/// One object a peer, in the order of the configuration. Nothing of a login is in it.
nlohmann::ordered_json peers_json(std::vector<icp::PeerStats> const&);
nlohmann::ordered_json icp_json(icp::AgentFigures const&);

}  // namespace garner::admin
