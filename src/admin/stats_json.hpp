// The figures as JSON: GET /stats.json. docs/metrics.md tells every name.
#pragma once
#include <nlohmann/json.hpp>

#include "admin/report.hpp"

namespace garner::admin {

/// Times are whole microseconds unless the name says otherwise, sizes bytes, ratios 0 to 1 or null. Names stay.
nlohmann::ordered_json stats_json(Report const&);

}  // namespace garner::admin
