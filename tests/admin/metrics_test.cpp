#include "admin/metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

#include "peers.hpp"
#include "proxy/rule_hits.hpp"
#include "support/tables.hpp"
#include "web/prometheus.hpp"

namespace garner::admin {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> lines_of(std::istream&& text) {
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
}

char const* const metrics_page = "docs/reference/metrics.md";

/// The members that only the row of the metric names. Those of other metrics are explained beside the table, or are
/// reasons of Cache-Status.
std::string members_of(Metric const& metric) {
    auto const value = metric.get(Report{});
    if (!metric.name.starts_with("garner_disk_") && !metric.name.starts_with("garner_tls_")) return {};
    std::string out;
    if (value.is_object())
        for (auto const& [name, member] : value.items()) out += (out.empty() ? " Members: `" : "`, `") + name;
    return out.empty() ? out : out + "`.";
}

/// {peer,said="hit"} becomes {peer,said}.
std::string without_value(std::string_view name) {
    auto const value = name.find('=');
    return value == name.npos ? std::string(name) : std::string(name.substr(0, value)) + "}";
}

std::string cell(std::string const& text) { return text.empty() ? " |" : " `" + text + "` |"; }

/// Metrics that differ only in the value of a label share a row.
std::string table() {
    std::string out, paths, rest;
    for (auto const& metric : metrics()) {
        auto const next = cell(without_value(metric.name)) + " " + std::string(metric.help) + members_of(metric) + " |\n";
        if (next == rest) {
            paths += "`, `" + std::string(metric.path);
            continue;
        }
        if (!rest.empty()) out += "|" + cell(paths) + rest;
        paths = metric.path;
        rest = next;
    }
    return out + "|" + cell(paths) + rest;
}

void add_names(Json const& value, std::set<std::string>& names) {
    for (auto const& [name, member] : value.items()) {
        names.insert(name);
        if (member.is_object()) add_names(member, names);
    }
}

/// The value of the first metrics line that begins with `sample`.
double value(std::string const& text, std::string const& sample) {
    for (auto const& line : lines_of(std::istringstream(text)))
        if (line.starts_with(sample + " ")) return std::stod(line.substr(line.rfind(' ')));
    ADD_FAILURE() << "no " << sample << " in\n" << text;
    return std::numeric_limits<double>::quiet_NaN();
}

TEST(Metrics, every_one_is_documented_and_nothing_else_is) {
    EXPECT_EQ(test::difference_of_rows(metrics_page, "Metrics", table(), "Metrics.*"), "");
}

TEST(Metrics, every_member_is_documented) {
    std::string pages;
    for (auto const* page : {metrics_page, "docs/reference/cache-status.md"})
        for (auto const& line : lines_of(std::ifstream(test::source(page)))) pages += line + "\n";
    std::set<std::string> names;
    for (auto const& metric : metrics())
        if (auto const value = metric.get(Report{}); value.is_object()) add_names(value, names);
    EXPECT_GT(names.size(), 50u);
    for (auto const& name : names) EXPECT_THAT(pages, HasSubstr("`" + name + "`"));
}

TEST(Metrics, every_name_of_the_JSON_is_in_the_table_once) {
    std::set<std::string_view> paths;
    for (auto const& metric : metrics()) {
        EXPECT_TRUE(metric.path.empty() || paths.insert(metric.path).second) << metric.path;
        EXPECT_FALSE(metric.path.empty() && metric.name.empty()) << metric.help;
    }
}

TEST(Metrics, every_answer_is_documented) {
    auto const rows = test::documented_rows(metrics_page, "Hits");
    ASSERT_EQ(rows.size(), answer_count);
    for (std::size_t i = 0; i < answer_count; ++i)
        EXPECT_THAT(rows[i], HasSubstr("`" + std::string(name_of(static_cast<proxy::Answer>(i))) + "`"));
}

TEST(Metrics, names_follow_the_conventions) {
    for (auto const& metric : metrics()) {
        EXPECT_EQ(metric.help.find_first_of("\\\n|"), metric.help.npos) << metric.help;
        if (metric.name.empty()) continue;
        auto const name = web::family_of(metric.name);
        EXPECT_TRUE(name.starts_with("garner_")) << name;
        EXPECT_EQ(web::type_of(metric.name) == "counter", name.ends_with("_total")) << name;
        EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), name.npos) << name;
        bool const bytes = name.ends_with("_bytes") || name.ends_with("_bytes_total");
        EXPECT_EQ(metric.unit == "bytes", bytes) << name;
    }
}

TEST(Metrics, each_line_of_the_summary_has_a_section_that_is_shown) {
    std::set<std::string_view> const sections{"Requests", "Clients", "Origins", "Memory", "Disk", "Mesh", "Access log"};
    for (auto const& metric : metrics()) {
        EXPECT_TRUE(metric.section.empty() || sections.contains(metric.section)) << metric.section;
        EXPECT_EQ(metric.section.empty(), metric.line.empty()) << metric.path;
    }
}

TEST(Metrics, each_family_is_told_once_and_before_its_samples) {
    std::string family;
    std::set<std::string> told;
    for (auto const& line : lines_of(std::istringstream(metrics_text(Report{})))) {
        if (line.starts_with("# HELP ")) {
            family = line.substr(7, line.find(' ', 7) - 7);
            EXPECT_TRUE(told.insert(family).second) << family;
        } else {
            EXPECT_TRUE(line.starts_with("# TYPE " + family + " ") || line.starts_with(family)) << line;
        }
    }
    std::set<std::string_view> families;
    for (auto const& metric : metrics())
        if (!metric.name.empty()) families.insert(web::family_of(metric.name));
    EXPECT_EQ(told.size(), families.size());
}

TEST(Metrics, figures_come_out_exactly) {
    Report report;
    report.figures.answers[static_cast<std::size_t>(proxy::Answer::hit)] = UINT64_MAX;
    proxy::Counters worker;
    worker.client_sent.add(1'234'567'890'123'456'789);
    report.figures.workers = {&worker};
    report.ratios[1].hit = 0.25;
    auto const text = metrics_text(report);
    EXPECT_THAT(text, HasSubstr("\ngarner_requests_total{answer=\"hit\"} 18446744073709551615\n"));
    EXPECT_THAT(text, HasSubstr("\ngarner_client_sent_bytes_total 1234567890123456789\n"));
    EXPECT_THAT(text, HasSubstr("\ngarner_hit_ratio{window=\"5m\"} 0.25\n"));
    EXPECT_THAT(text, HasSubstr("\ngarner_hit_ratio{window=\"60s\"} NaN\n"));
}

TEST(Metrics, connections_and_streams_that_have_not_ended_are_open) {
    proxy::Counters one, other;
    for (auto* worker : {&one, &other}) worker->connections_begun.add(proxy::Protocol::http2);
    one.connections_begun.add(proxy::Protocol::http1);
    other.connections_begun.add(proxy::Protocol::http1);
    other.connections_continued.add(proxy::Protocol::http1);
    one.connections_ended.add(proxy::Protocol::http2);
    other.streams.add(5);
    other.streams_ended.add(3);
    other.streams_refused.add();
    other.faults.add(h2::ConnectionFault::large_head);
    Report report;
    report.figures.workers = {&one, &other};
    auto const text = metrics_text(report);
    EXPECT_EQ(value(text, "garner_client_connections_by_protocol{protocol=\"http1\"}"), 2);
    EXPECT_EQ(value(text, "garner_client_connections_by_protocol_total{protocol=\"http1\"}"), 1)
        << "a former process has the other";
    EXPECT_EQ(value(text, "garner_client_connections_by_protocol{protocol=\"http2\"}"), 1);
    EXPECT_EQ(value(text, "garner_client_connections_by_protocol_total{protocol=\"http2\"}"), 2);
    EXPECT_EQ(value(text, "garner_client_streams"), 2);
    EXPECT_EQ(value(text, "garner_client_streams_total"), 5);
    EXPECT_EQ(value(text, "garner_client_streams_refused_total"), 1);
    EXPECT_EQ(value(text, "garner_client_connections_ended_total{reason=\"large_head\"}"), 1);
    EXPECT_EQ(value(text, "garner_client_connections_ended_total{reason=\"glitches\"}"), 0);
}

TEST(Metrics, histograms_are_cumulative) {
    Histogram times;
    for (auto micros : {1, 90, 120, 900, 900, 2'000'000}) times.add(std::chrono::microseconds(micros));
    Report report;
    report.figures.miss_time = times.snapshot();
    auto const text = metrics_text(report);
    std::string const name = "garner_miss_duration_seconds";
    EXPECT_EQ(value(text, name + "_bucket{le=\"0.0001\"}"), 2);
    EXPECT_EQ(value(text, name + "_bucket{le=\"0.00025\"}"), 3);
    EXPECT_EQ(value(text, name + "_bucket{le=\"0.001\"}"), 5);
    EXPECT_EQ(value(text, name + "_bucket{le=\"1\"}"), 5);
    EXPECT_EQ(value(text, name + "_bucket{le=\"2.5\"}"), 6);
    EXPECT_EQ(value(text, name + "_bucket{le=\"+Inf\"}"), 6);
    EXPECT_EQ(value(text, name + "_count"), 6);
    EXPECT_DOUBLE_EQ(value(text, name + "_sum"), 2.002011);
    EXPECT_EQ(value(text, "garner_hit_duration_seconds_count"), 0);
}

TEST(Metrics, each_peer_has_its_samples) {
    auto report = report_with_peers();
    report.figures.peers[1].options.name = "next \\ \"door\"\n";
    auto const text = metrics_text(report);
    std::string const door = R"({peer="next \\ \"door\"\n"})";
    EXPECT_THAT(text, HasSubstr("\ngarner_peer_alive{peer=\"campus\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("\ngarner_peer_alive" + door + " 0\n"));
    EXPECT_THAT(text, HasSubstr("\ngarner_peer_dead" + door + " 1\n"));
    EXPECT_THAT(text, HasSubstr("\ngarner_peer_query_rtt_seconds{peer=\"campus\"} 0.000812\n"));
    EXPECT_THAT(text, HasSubstr("\ngarner_peer_query_rtt_seconds" + door + " NaN\n"));
    EXPECT_THAT(text, HasSubstr("\ngarner_peer_answers_total{peer=\"campus\",said=\"miss\"} 11640\n"));
    EXPECT_THAT(text, HasSubstr("\ngarner_peer_false_hits_total{peer=\"campus\"} 3\n"));
    EXPECT_THAT(text, HasSubstr("\ngarner_peer_saved_bytes_total{peer=\"campus\"} 5242880\n"));
    EXPECT_THAT(text, HasSubstr("\ngarner_icp_answers_total{said=\"hit\"} 21\n"));
}

TEST(StatsJson, peers_tell_units_and_no_login) {
    auto const json = stats_json(report_with_peers());
    auto const& peer = json["peers"][0];
    EXPECT_EQ(peer["name"], "campus");
    EXPECT_EQ(peer["type"], "parent");
    EXPECT_EQ(peer["state"], "alive");
    EXPECT_EQ(peer["query_rtt_ms"], 0.812);
    EXPECT_EQ(peer["connect_rtt_ms"], 1.25);
    EXPECT_TRUE(peer["bytes_per_second"].is_null());
    EXPECT_TRUE(peer["digest_entries"].is_null());
    EXPECT_EQ(json["peers"][1]["state"], "dead");
    EXPECT_TRUE(json["peers"][1]["address"].is_null());
    EXPECT_EQ(json["icp"]["queries"], 4'321);
    EXPECT_THAT(json.dump(), Not(HasSubstr("secret")));
}

/// Three rules, of which the second is dead.
Report report_with_rules() {
    auto options = std::make_shared<proxy::Options>();
    std::vector<http::AccessRule> rules(3);
    for (std::size_t i = 0; i < rules.size(); ++i) rules[i].place = "access[" + std::to_string(i) + "]: deny";
    rules[0].match.host = {*http::HostPattern::parse(".example")};
    rules[0].name = "exams";
    rules[1].match.host = {*http::HostPattern::parse("www.example")};
    options->access = http::AccessRules(std::move(rules));
    options->rule_hits = std::make_shared<proxy::RuleHits>(3, 1);
    for (int i = 0; i < 4; ++i) options->rule_hits->add(0, 0);
    Report report;
    report.figures.options = options;
    return report;
}

TEST(StatsJson, has_the_hits_of_each_rule_and_why_one_is_dead) {
    auto const report = report_with_rules();
    auto const rules = stats_json(report)["rules"];
    ASSERT_EQ(rules.size(), 3u);
    EXPECT_EQ(rules[0], (Json{{"rule", "exams (access[0]: deny)"}, {"hits", 4}, {"dead", false}, {"why", ""}}));
    EXPECT_EQ(rules[1],
              (Json{{"rule", "access[1]: deny"}, {"hits", 0}, {"dead", true}, {"why", "access[0] matches all its requests"}}));
    EXPECT_EQ(rules[2]["dead"], false);
    auto const text = metrics_text(report);
    EXPECT_EQ(value(text, "garner_rule_hits_total{rule=\"exams (access[0]: deny)\"}"), 4);
    EXPECT_EQ(value(text, "garner_rule_hits_total{rule=\"access[2]: deny\"}"), 0);
}

TEST(StatsJson, names_of_clients_hosts_and_URLs_are_no_labels) {
    Report report;
    report.top.hosts = report.top.clients = report.top.misses = {{"evil\"<b>", 3, 2, 1, "no-store in response"}};
    proxy::Refused refused;
    refused.url = "http://evil.example/";
    report.refusals = {refused};
    auto const json = stats_json(report);
    EXPECT_EQ(json["top"]["hosts"][0],
              (Json{{"name", "evil\"<b>"}, {"requests", 3}, {"bytes", 2}, {"hits", 1}, {"reason", "no-store in response"}}));
    EXPECT_EQ(json["refusals"][0]["url"], "http://evil.example/");
    EXPECT_THAT(metrics_text(report), Not(HasSubstr("evil")));
}

TEST(StatsJson, has_the_days_of_certificates) {
    Report report;
    report.figures.certificates = {{"CN = a.example", wall_now() + std::chrono::hours(24 * 3 + 1)}};
    auto const list = stats_json(report)["certificates"];
    ASSERT_EQ(list.size(), 1u);
    EXPECT_EQ(list[0]["name"], "CN = a.example");
    EXPECT_EQ(list[0]["days_left"], 3);
    EXPECT_EQ(list[0]["not_after"], unix_seconds(report.figures.certificates.begin()->second));
}

TEST(StatsJson, what_nothing_was_measured_for_is_null) {
    Report report;
    auto const empty = stats_json(report);
    EXPECT_TRUE(empty["hit_ratio"]["60s"].is_null());
    EXPECT_TRUE(empty["latency"]["hit"]["p99_us"].is_null());
    Histogram times;
    times.add(std::chrono::microseconds(17));
    report.figures.hit_time = times.snapshot();
    report.ratios[0].byte_hit = 0.5;
    auto const json = stats_json(report);
    EXPECT_EQ(json["latency"]["hit"]["p99_us"], 17);
    EXPECT_EQ(json["byte_hit_ratio"]["60s"], 0.5);
}

}   // namespace
}   // namespace garner::admin
