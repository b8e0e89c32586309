// The figures as JSON: GET /stats.json. docs/metrics.md tells every name.
#pragma once
#include <nlohmann/json.hpp>

#include "admin/report.hpp"

namespace garner::admin {

/// Names tell units: _us microseconds, _bytes, _seconds. Ratios are 0 to 1. What nothing was measured for is null.
nlohmann::ordered_json stats_json(Report const&);

}  // namespace garner::admin
