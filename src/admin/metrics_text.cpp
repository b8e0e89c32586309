// The metrics for Prometheus: GET /metrics.
#include <utility>

#include "admin/former_totals.hpp"
#include "admin/json_members.hpp"
#include "admin/metrics.hpp"
#include "web/prometheus.hpp"

namespace garner::admin {

namespace {

/// Values by peer name, in seconds: {"campus": 0.000812}.
Json by_peer(Metric const& metric, Json const& values, std::vector<icp::PeerStats> const& peers) {
    bool const in_millis = metric.path.ends_with("_ms") && metric.unit == "seconds";
    Json json = Json::object();
    for (std::size_t i = 0; i < peers.size(); ++i) {
        bool const convert = in_millis && values[i].is_number();
        json[peers[i].options.name] = convert ? Json(values[i].get<double>() / 1e3) : values[i];
    }
    return json;
}

LatencySnapshot times_of(Metric const& metric, Report const& report) {
    auto const& times = report.figures.*metric.histogram;
    return report.former ? report.former->with(std::string(metric.name), times) : times;
}

}   // namespace

Json value_of(Metric const& metric, Report const& report) {
    auto value = metric.get(report);
    if (value.is_array()) value = by_peer(metric, value, report.figures.peers);
    bool const continues = is_counter(metric) && report.former && (value.is_object() || value.is_number_unsigned());
    return continues ? report.former->with(std::string(metric.name), std::move(value)) : value;
}

Totals totals_of(Report const& report) {
    Totals totals = Totals::object();
    for (auto const& metric : metrics()) {
        if (is_counter(metric)) totals[std::string(metric.name)] = value_of(metric, report);
        if (metric.histogram) totals[std::string(metric.name)] = counts_of(times_of(metric, report));
    }
    return totals;
}

std::string metrics_text(Report const& report) {
    web::PrometheusText text;
    for (auto const& metric : metrics()) {
        if (metric.name.empty()) continue;
        if (metric.histogram) {
            text.add_histogram(metric.name, metric.help, times_of(metric, report));
            continue;
        }
        text.add(metric.name, metric.help, value_of(metric, report));
    }
    return text.take();
}

}   // namespace garner::admin
