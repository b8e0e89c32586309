// The result of /explain as readable text, for `garner explain`.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace garner::admin {

/// The verdict in the first line, then its reasons. Leaves out members that another version does not send.
std::string explain_text(nlohmann::ordered_json const& explained);

}   // namespace garner::admin
