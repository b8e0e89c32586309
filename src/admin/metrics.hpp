// The table of all metrics, which generates /metrics, /stats.json, `garner stats`, the admin page and docs/reference/metrics.md.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "admin/report.hpp"

namespace garner::admin {

/// One metric. To add one, add a row in metrics.cpp, and to docs/reference/metrics.md the line that the test prints.
///
/// get() returns a number, a text, or null if there is no measurement. An object has one number for each value of the label
/// in `name`; an array has one value for each peer. get() may be called on any thread while the server lives.
struct Metric {
    std::string_view path;   // in /stats.json: "client.sent_bytes"; empty: only in /metrics
    std::string_view name;   // in /metrics, with its label: "garner_requests_total{answer}"; empty: only in /stats.json
    std::string_view unit;   // "bytes", "seconds", "requests", "0 to 1", "text"
    nlohmann::ordered_json (*get)(Report const&);
    std::string_view help;                           // one sentence
    std::string_view section{};                      // its place in the summary (`garner stats`, the page); empty: not shown there
    std::string_view line{};                         // "*": one line for each member of an object; "not: *": for each non-zero one
    LatencySnapshot Figures::*histogram = nullptr;   // /metrics shows this in place of get()
};

/// The rows of /metrics and /stats.json, in their order. Rows of one family are adjacent.
std::span<Metric const> metrics();

/// Counts events, so that it goes on over a takeover.
inline bool is_counter(Metric const& metric) { return metric.name.find("_total") != std::string_view::npos && !metric.histogram; }
/// The value for /metrics: a counter's with the counts of former processes, and values of peers by their names, in seconds.
nlohmann::ordered_json value_of(Metric const&, Report const&);

/// Prometheus' text format 0.0.4. A metric without a measurement is NaN.
std::string metrics_text(Report const&);
/// Units are in the table. A metric without a measurement is null.
nlohmann::ordered_json stats_json(Report const&);

}   // namespace garner::admin
