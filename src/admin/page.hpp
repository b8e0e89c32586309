// The page for a person: GET / of the admin address.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace garner::admin {

/// One HTML document that needs nothing else and loads itself anew every 5 s.
std::string page(nlohmann::ordered_json const& stats);
/// Its Content-Security-Policy: nothing but the page's own style.
std::string const& page_policy();

}  // namespace garner::admin
