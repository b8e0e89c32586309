// The service's figures, as JSON and for Prometheus.
#pragma once
#include <string>

#include "seen/desk.hpp"

namespace garner::seen {

std::string stats_json(Desk&);
/// Text format 0.0.4.
std::string metrics_text(Desk&);

}  // namespace garner::seen
