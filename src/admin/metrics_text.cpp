// The metrics for Prometheus: GET /metrics.
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

}   // namespace

std::string metrics_text(Report const& report) {
    web::PrometheusText text;
    for (auto const& metric : metrics()) {
        if (metric.name.empty()) continue;
        if (metric.histogram) {
            text.add_histogram(metric.name, metric.help, report.figures.*metric.histogram);
            continue;
        }
        auto const value = metric.get(report);
        text.add(metric.name, metric.help, value.is_array() ? by_peer(metric, value, report.figures.peers) : value);
    }
    return text.take();
}

}   // namespace garner::admin
