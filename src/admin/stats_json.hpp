// The figures as JSON: GET /stats.json. docs/metrics.md lists every name.
#pragma once
#include <nlohmann/json.hpp>

#include "admin/report.hpp"

namespace garner::admin {

/// Units are in the table of metrics. A figure for which nothing was measured is null.
nlohmann::ordered_json stats_json(Report const&);

}  // namespace garner::admin
