// The figures for Prometheus: GET /metrics. docs/metrics.md tells every name.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "admin/report.hpp"

namespace garner::admin {

class MetricText;

/// One metric family. To add one, add a row in metrics.cpp and its line in docs/metrics.md.
struct Metric {
    std::string_view name;           // "garner_uptime_seconds"
    std::string_view type;           // counter, gauge, histogram
    std::string_view unit;           // seconds, bytes, requests …
    std::string_view labels;         // "answer", or empty
    std::string_view meaning;        // one sentence
    void (*write)(Report const&, MetricText&);
};

std::span<Metric const> metrics();

/// Prometheus' text format 0.0.4. A ratio without requests is NaN.
std::string metrics_text(Report const&);

}  // namespace garner::admin
