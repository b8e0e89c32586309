// The admin page: GET / of the admin address.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace garner::admin {

/// One HTML document without further resources, which reloads its statistics every 5 s.
std::string page(nlohmann::ordered_json const& stats);
/// Its Content-Security-Policy: allows only the page's own style, its script, and requests to its own origin.
std::string const& page_policy();

}   // namespace garner::admin
