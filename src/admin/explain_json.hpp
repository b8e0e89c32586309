// Why a URL is, or is not, answered from the cache, as JSON: GET or POST /explain. docs/reference/admin-api.md describes requests.
#pragma once
#include <nlohmann/json.hpp>

#include "proxy/explain.hpp"

namespace garner::admin {

/// Names contain units, as in /stats.json. Members that do not apply are null. The Explanation has no fault.
nlohmann::ordered_json explain_json(proxy::Explanation const&);

}   // namespace garner::admin
