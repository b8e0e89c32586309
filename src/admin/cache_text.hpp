// Formats a stored object as one line, for garner cache ls.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace garner::admin {

/// Size, status, freshness, URL and variant; without a newline. Control characters are replaced.
std::string line_of_object(nlohmann::ordered_json const& object);
/// JSON on one line.
std::string line_of_json(nlohmann::ordered_json const& object);

}   // namespace garner::admin
