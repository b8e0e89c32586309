// Parts of the share of the line as JSON.
#pragma once
#include <cstdint>

#include "admin/json_members.hpp"

namespace garner::admin {

/// The weight of a subject of the line: whole for clients, less than 1 for the replication of a group.
inline Json weight_in_json(float weight) {
    auto const whole = static_cast<std::uint64_t>(weight);
    return static_cast<float>(whole) == weight ? Json(whole) : Json(weight);
}

}   // namespace garner::admin
