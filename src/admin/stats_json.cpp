#include "admin/stats_json.hpp"

#include "admin/disk_json.hpp"
#include "admin/mesh_json.hpp"
#include "util/version.hpp"

namespace garner::admin {

using Json = nlohmann::ordered_json;

namespace {

Json requests(Figures const& figures) {
    Json json{{"total", figures.requests}};
    for (std::size_t i = 0; i < answer_count; ++i) json[name_of(static_cast<proxy::Answer>(i))] = figures.answers[i];
    return json;
}

template <class Enum>
Json reasons(ReasonCounts<Enum> const& counts) {
    Json json = Json::object();
    counts.each([&](std::string_view reason, std::uint64_t count) { json[std::string(reason)] = count; });
    return json;
}

Json ratio(std::optional<double> value) { return value ? Json(*value) : Json(nullptr); }

Json ratios(WindowRatios const& all, std::optional<double> Ratios::*which) {
    Json json = Json::object();
    for (std::size_t i = 0; i < windows.size(); ++i) json[windows[i].name] = ratio(all[i].*which);
    return json;
}

Json latency(LatencySnapshot const& times) {
    auto micros = [&times](std::chrono::microseconds value) {
        return times.total > 0 ? Json(static_cast<std::uint64_t>(value.count())) : Json(nullptr);
    };
    return {{"count", times.total},
            {"mean_us", micros(times.mean())},
            {"p50_us", micros(times.percentile(50))},
            {"p90_us", micros(times.percentile(90))},
            {"p99_us", micros(times.percentile(99))}};
}

Json client(Figures const& figures) {
    return {{"received_bytes", figures.client_received},
            {"sent_bytes", figures.client_sent},
            {"body_bytes", figures.client_body_bytes},
            {"hit_body_bytes", figures.client_hit_bytes},
            {"aborts", figures.client_aborts}};
}

Json connections(Figures const& figures) {
    return {{"now", figures.connections_now},
            {"limit", figures.connections_limit},
            {"total", figures.connections},
            {"refused", figures.connections_refused},
            {"displaced", figures.connections_displaced},
            {"accept_pauses", figures.accept_pauses}};
}

Json origin(Figures const& figures) {
    return {{"received_bytes", figures.origin_received}, {"sent_bytes", figures.origin_sent},
            {"connections", figures.origin_connections}, {"reused", figures.origin_reused},
            {"retries", figures.origin_retries},         {"failures", figures.origin_failures},
            {"resumed", figures.resumed},                {"refreshes", figures.refreshes}};
}

Json cache(cache::Stats const& stats) {
    return {{"policy", stats.policy},
            {"objects", stats.objects},
            {"capacity_bytes", stats.capacity},
            {"used_bytes", stats.used},
            {"stored_bytes", stats.cached},
            {"filling_bytes", stats.filling},
            {"pinned_bytes", stats.pinned},
            {"metadata_bytes", stats.metadata},
            {"fills", stats.fills},
            {"followers", stats.followers},
            {"evictions", stats.evictions},
            {"no_room", stats.refused_for_room},
            {"not_admitted", stats.not_admitted},
            {"failures", stats.failures}};
}

Json dropped_most(proxy::AccessLog::Stats const& stats) {
    Json rows = Json::array();
    for (auto const& row : stats.dropped_most)
        rows.push_back({{"client", row.client}, {"status", row.status}, {"lines", row.lines}});
    return rows;
}

Json log(proxy::AccessLog::Stats const& stats) {
    return {{"written", stats.written},
            {"dropped", stats.dropped},
            {"dropped_most", dropped_most(stats)},
            {"lost", stats.lost},
            {"write_errors", stats.write_errors},
            {"written_bytes", stats.bytes},
            {"last_error", stats.last_error}};
}

Json what_if_rows(sim::WhatIf const& what_if) {
    Json rows = Json::array();
    if (!what_if.is_enough()) return rows;
    for (auto const& row : what_if.rows)
        rows.push_back({{"policy", row.policy},
                        {"size_bytes", row.size},
                        {"object_hit_ratio", what_if.object_hit_ratio(row)},
                        {"byte_hit_ratio", what_if.byte_hit_ratio(row)}});
    return rows;
}

Json what_if(Figures const& figures) {
    bool const on = figures.what_if.has_value();
    auto const report = figures.what_if.value_or(proxy::Sampling::Report{});
    auto const& estimate = report.what_if;
    return {{"on", on},
            {"policy", report.policy},
            {"rate", on ? Json(estimate.rate) : Json(nullptr)},
            {"requests", estimate.requests},
            {"requests_wanted", sim::WhatIf::requests_wanted},
            {"dropped", report.dropped},
            {"since_seconds", estimate.seconds},
            {"memory_bytes", estimate.metadata},
            {"rows", what_if_rows(estimate)},
            {"auto",
             {{"aim", report.follows ? Json(sim::AutoPolicy::text(*report.follows)) : Json(nullptr)},
              {"last_change", report.why}}}};
}

}  // namespace

Json stats_json(Report const& report) {
    auto const& figures = report.figures;
    Json json;
    json["version"] = version;
    json["via_name"] = figures.via_name;
    json["uptime_seconds"] = figures.uptime_seconds;
    json["workers"] = figures.workers;
    json["requests"] = requests(figures);
    json["not_stored"] = reasons(figures.not_stored);
    json["passed"] = reasons(figures.passed);
    json["not_fresh"] = reasons(figures.not_fresh);
    json["stale_served"] = reasons(figures.stale_used);
    json["hit_ratio"] = ratios(report.ratios, &Ratios::hit);
    json["byte_hit_ratio"] = ratios(report.ratios, &Ratios::byte_hit);
    json["latency"]["hit"] = latency(figures.hit_time);
    json["latency"]["miss"] = latency(figures.miss_time);
    for (std::size_t i = 0; i < latency_windows.size(); ++i) {
        auto const* name = latency_windows[i].name;
        json["latency"]["hit"][name] = latency(report.latencies[i].hit);
        json["latency"]["miss"][name] = latency(report.latencies[i].miss);
    }
    json["client"] = client(figures);
    json["connections"] = connections(figures);
    json["origin"] = origin(figures);
    json["peers"] = peers_json(figures.peers);
    json["icp"] = icp_json(figures.icp);
    json["cache"] = cache(figures.cache);
    json["disk"] = disk_json(figures.disk, report.disk_costs);
    json["what_if"] = what_if(figures);
    json["log"] = log(figures.log);
    return json;
}

}  // namespace garner::admin
