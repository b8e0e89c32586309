// The statistics of the service, as JSON and for Prometheus.
#pragma once
#include <string>

#include "seen/service_state.hpp"

namespace garner::seen {

std::string stats_json(ServiceState&);
/// Text format 0.0.4.
std::string metrics_text(ServiceState&);

}   // namespace garner::seen
