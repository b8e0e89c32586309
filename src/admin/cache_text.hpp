// A stored object as a line, for garner cache ls.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace garner::admin {

/// Size, status, for how long it is fresh, and URL with what else tells it apart; without the end of the line. What
/// origins and clients wrote commands no terminal.
std::string line_of_object(nlohmann::ordered_json const& object);
/// The same object as JSON on one line.
std::string line_of_json(nlohmann::ordered_json const& object);

}  // namespace garner::admin
