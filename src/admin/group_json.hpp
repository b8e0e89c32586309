// The state of the group as JSON, for /group, and as text, for `garner group`.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "group/state.hpp"

namespace garner::admin {

nlohmann::ordered_json group_json(group::GroupState const&);
/// The text of `garner group`, made from the JSON of /group.
std::string group_text(nlohmann::ordered_json const&);

}   // namespace garner::admin
