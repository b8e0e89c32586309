// Why a URL is, or is not, answered from the cache, as JSON: GET or POST /explain. docs/metrics.md tells how to ask.
#pragma once
#include <nlohmann/json.hpp>

#include "proxy/explain.hpp"

namespace garner::admin {

/// Names tell units, as in /stats.json. What does not apply is null. Of an Explanation without a fault.
nlohmann::ordered_json explain_json(proxy::Explanation const&);

}  // namespace garner::admin
