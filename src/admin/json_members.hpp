// Members of a JSON object that may be absent, null, or of another kind.
#pragma once
#include <nlohmann/json.hpp>

namespace garner::admin {

/// The member; null when there is none.
inline nlohmann::ordered_json const& at(nlohmann::ordered_json const& json, char const* name) {
    static nlohmann::ordered_json const nothing;
    return json.is_object() && json.contains(name) ? json.at(name) : nothing;
}

}  // namespace garner::admin
