#include "admin/metric_lists.hpp"

#include <algorithm>
#include <cmath>

#include "admin/quota_json.hpp"
#include "admin/share_json.hpp"
#include "proxy/moment.hpp"
#include "proxy/rule_hits.hpp"

namespace garner::admin::lists {

namespace {

/// Calls visit(rule, hits) for each access rule.
template <class Visit>
void for_each_rule(Report const& report, Visit visit) {
    auto const& options = report.figures.options;
    if (!options || !options->rule_hits) return;
    auto const hits = options->rule_hits->sums();
    auto const rules = options->access.rules();
    for (std::size_t i = 0; i < rules.size(); ++i) visit(rules[i], hits[i]);
}

/// Four decimals are enough for a chart.
Json chart(std::vector<std::optional<double>> const& values) {
    constexpr double steps = 1e4;
    Json list = Json::array();
    for (auto const& value : values) list.push_back(value ? Json(std::round(*value * steps) / steps) : Json(nullptr));
    return list;
}

/// `cause`: the name of the member that tells why the client got an error page.
Json error_pages(std::span<proxy::Refused const> pages, char const* cause) {
    Json rows = Json::array();
    for (auto const& one : pages)
        rows.push_back({{"time", proxy::moment_text(one.at)},
                        {"client", one.client.text()},
                        {"user", one.user},
                        {"method", one.method},
                        {"url", one.url},
                        {cause, one.rule},
                        {"id", one.id}});
    return rows;
}

}   // namespace

Json health_items(Report const& report) {
    Json rows = Json::array();
    for (auto const& item : report.health.items)
        rows.push_back({{"state", name_of(item.state)},
                        {"what", item.what},
                        {"fix", item.fix},
                        {"section", item.section},
                        {"check", item.check}});
    return rows;
}

Json top(std::span<TopRow const> table) {
    Json rows = Json::array();
    for (auto const& row : table)
        rows.push_back(
            {{"name", row.name}, {"requests", row.requests}, {"bytes", row.bytes}, {"hits", row.hits}, {"reason", row.reason}});
    return rows;
}

Json refusals(Report const& report) { return error_pages(report.refusals, "rule"); }
Json failures(Report const& report) {
    constexpr std::size_t rows_max = 64;   // the viewers of the page get them once a second
    return error_pages(std::span(report.failures).first(std::min(report.failures.size(), rows_max)), "reason");
}

Json rules(Report const& report) {
    Json rows = Json::array();
    for_each_rule(report, [&](http::AccessRule const& rule, std::uint64_t hits) {
        rows.push_back({{"rule", rule.label()}, {"hits", hits}, {"dead", false}, {"why", ""}});
    });
    if (rows.empty()) return rows;
    for (auto const& dead : report.figures.options->access.dead()) {
        rows[dead.rule]["dead"] = true;
        rows[dead.rule]["why"] = dead.why;
    }
    return rows;
}
Json rule_hits(Report const& report) {
    Json json = Json::object();
    for_each_rule(report, [&](http::AccessRule const& rule, std::uint64_t hits) { json[rule.label()] = hits; });
    return json;
}

Json subjects(Report const& report) {
    Json rows = Json::array();
    for (auto const& subject : report.subjects) {
        Json row{{"name", subject.name}, {"weight", weight_in_json(subject.flows[0].weight)}};
        for (auto const direction : share::directions) {
            auto const& flow = subject.flows[share::index(direction)];
            row[std::string(share::text(direction)) + "_bytes"] = flow.bytes;
            row[std::string(share::text(direction)) + "_bytes_per_second"] = static_cast<std::uint64_t>(flow.bytes_per_second);
        }
        row["waiting"] = subject.flows[0].waiting + subject.flows[1].waiting;
        rows.push_back(std::move(row));
    }
    return rows;
}

Json caps(Report const& report) {
    Json rows = Json::array();
    for (auto const& cap : report.figures.caps)
        rows.push_back({{"name", cap.name}, {"down_bytes", cap.bytes[0]}, {"up_bytes", cap.bytes[1]}});
    return rows;
}

Json quotas(Report const& report) {
    Json rows = Json::array();
    for (auto const& standing : report.quotas) rows.push_back(quota_json(standing));
    return rows;
}

Json certificates(Report const& report) {
    Json rows = Json::array();
    auto const now = wall_now();
    for (auto const& [subject, not_after] : report.figures.certificates) {
        auto const left = std::chrono::floor<std::chrono::days>(not_after - now);
        rows.push_back({{"name", subject}, {"not_after", unix_seconds(not_after)}, {"days_left", left.count()}});
    }
    return rows;
}

Json history(Report const& report) {
    Json json = Json::object();
    for (auto const& series : report.history) json[series.name] = {{"5s", chart(series.fine)}, {"1m", chart(series.coarse)}};
    return json;
}

Json latest(Report const& report) {
    Json json = Json::object();
    for (auto const& series : report.history) {
        auto const last = chart({series.fine.empty() ? std::nullopt : series.fine.back()});
        json[series.name] = last.front();
    }
    return json;
}

Json dropped_most(Report const& report) {
    Json rows = Json::array();
    for (auto const& row : report.figures.log.dropped_most)
        rows.push_back({{"client", row.client}, {"status", row.status}, {"lines", row.lines}});
    return rows;
}

}   // namespace garner::admin::lists
