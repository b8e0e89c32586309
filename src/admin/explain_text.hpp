// The answer of /explain in a person's words, for `garner explain`.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace garner::admin {

/// The verdict in the first line, then what led to it. Leaves out what another version does not tell.
std::string explain_text(nlohmann::ordered_json const& explained);

}  // namespace garner::admin
