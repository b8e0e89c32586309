// The figures for Prometheus: GET /metrics.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "admin/metrics.hpp"

namespace garner::admin {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::array bucket_limits{   // µs
    100u,     250u,     500u,     1'000u,   2'500u,     5'000u,     10'000u,    25'000u,    50'000u,
    100'000u, 250'000u, 500'000u, 1'000'000u, 2'500'000u, 5'000'000u, 10'000'000u, 30'000'000u};

std::string text_of(double number) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.15g", number);
    return digits;
}

std::string number_of(Json const& value) {
    if (value.is_null()) return "NaN";
    return value.is_number_float() ? text_of(value.get<double>()) : value.dump();
}

/// The operator chooses the names of peers: they may contain any character.
std::string escaped_label(std::string_view text) {
    std::string out;
    for (char c : text) {
        if (c == '\\' || c == '"') out += '\\';
        out += c == '\n' ? std::string("\\n") : std::string(1, c);
    }
    return out;
}

/// Gives the first label, which has no value yet, this one.
std::string labelled(std::string_view name, std::string_view value) {
    std::string out(name);
    return out.insert(out.find_first_of(",}"), "=\"" + escaped_label(value) + "\"");
}

void add_sample(std::string& out, std::string const& name, Json const& value) {
    out += name + " " + number_of(value) + "\n";
}

void add_histogram(std::string& out, std::string const& name, LatencySnapshot const& times) {
    std::uint64_t seen = 0;
    std::size_t bucket = 0;
    for (auto limit : bucket_limits) {
        // A finer bucket that contains the limit counts above it, so a value is at most 1/16 too high.
        while (bucket < times.buckets.size() && LatencyBuckets::most(bucket) <= limit) seen += times.buckets[bucket++];
        add_sample(out, labelled(name + "_bucket{le}", text_of(limit / 1e6)), seen);
    }
    add_sample(out, name + "_bucket{le=\"+Inf\"}", times.total);
    add_sample(out, name + "_sum", static_cast<double>(times.sum_micros) / 1e6);
    add_sample(out, name + "_count", times.total);
}

void add_peers(std::string& out, Metric const& metric, Json const& values, std::vector<icp::PeerStats> const& peers) {
    bool const in_millis = metric.path.ends_with("_ms") && metric.unit == "seconds";
    for (std::size_t i = 0; i < peers.size(); ++i) {
        bool const convert = in_millis && values[i].is_number();
        add_sample(out, labelled(metric.name, peers[i].options.name), convert ? Json(values[i].get<double>() / 1e3) : values[i]);
    }
}

void add_samples(std::string& out, Metric const& metric, Report const& report) {
    std::string const name(metric.name);
    if (metric.histogram) return add_histogram(out, name, report.figures.*metric.histogram);
    auto const value = metric.get(report);
    if (value.is_array()) return add_peers(out, metric, value, report.figures.peers);
    if (value.is_string()) return add_sample(out, labelled(name, value.get<std::string>()), 1);
    if (!value.is_object()) return add_sample(out, name, value);
    for (auto const& [label, number] : value.items()) add_sample(out, labelled(name, label), number);
}

std::string head_of(Metric const& metric) {
    std::string const family(family_of(metric));
    return "# HELP " + family + " " + std::string(metric.help) + "\n# TYPE " + family + " " + std::string(type_of(metric)) + "\n";
}

}  // namespace

std::string_view family_of(Metric const& metric) { return metric.name.substr(0, metric.name.find('{')); }

std::string_view type_of(Metric const& metric) {
    if (metric.histogram) return "histogram";
    return family_of(metric).ends_with("_total") ? "counter" : "gauge";
}

std::string metrics_text(Report const& report) {
    std::string out;
    std::string_view family;
    for (auto const& metric : metrics()) {
        if (metric.name.empty()) continue;
        if (family_of(metric) != family) out += head_of(metric);
        family = family_of(metric);
        add_samples(out, metric, report);
    }
    return out;
}

}  // namespace garner::admin
