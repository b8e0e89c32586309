// The state of the group as JSON, for /group, and as text, for `garner group`.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "group/state.hpp"

namespace garner::admin {

nlohmann::ordered_json group_json(group::GroupState const&);
/// The use of stored responses while the member is cut off, as `group.cut_off` names it.
char const* while_cut_off(group::GroupState const&);
nlohmann::ordered_json watermarks_json(group::GroupState const&);
nlohmann::ordered_json offer_json(group::GroupState::OfferRow const&);
/// "stored, first from 10.0.0.3:3128, for 5 m more", made from that JSON.
std::string offer_text(nlohmann::ordered_json const&);
/// The text of `garner group`, made from the JSON of /group.
std::string group_text(nlohmann::ordered_json const&);

}   // namespace garner::admin
