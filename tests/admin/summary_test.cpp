#include "admin/summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "admin/metrics.hpp"
#include "proxy/moment.hpp"
#include "util/version.hpp"

namespace garner::admin {
namespace {

using testing::HasSubstr;
using testing::Not;

Report some_report() {
    Report report;
    report.figures.uptime_seconds = 185;
    report.figures.requests = 1'234'567;
    report.figures.cache.used = 1'536;
    report.ratios[0] = {0.5, 0.25};
    Histogram times;
    times.add(std::chrono::microseconds(1'999));
    report.figures.miss_time = report.latencies[1].miss = times.snapshot();
    return report;
}

TEST(Summary, is_aligned_and_in_human_units) {
    auto const text = summary_text(stats_json(some_report()));
    EXPECT_THAT(text, HasSubstr("garner " + std::string(version) + ", up 3 min 5 s\n"));
    EXPECT_THAT(text, HasSubstr("\n  all                        1,234,567\n"));
    EXPECT_THAT(text, HasSubstr("\nHit ratio                     requests         bytes\n"));
    EXPECT_THAT(text, HasSubstr("\n  last 60 s                     50.0 %        25.0 %\n"));
    EXPECT_THAT(text, HasSubstr("\n  last 5 min                         -             -\n"));
    EXPECT_THAT(text, HasSubstr("\n  used                        1.50 KiB\n"));
    EXPECT_THAT(text, HasSubstr("\n  p50                                -             -             -       2.05 ms\n"));
}

TEST(Summary, begins_with_the_health) {
    auto report = some_report();
    EXPECT_THAT(summary_text(stats_json(report)), testing::StartsWith("OK: no problem is known.\n\ngarner "));
    report.health = {HealthState::attention,
                     "Attention: parent campus is dead.",
                     {{HealthState::attention, "parent campus is dead", "start it"}}};
    EXPECT_THAT(summary_text(stats_json(report)),
                testing::StartsWith("Attention: parent campus is dead.\n  parent campus is dead (start it)\n\ngarner "));
}

TEST(Summary, has_the_ends_of_certificates_and_the_days_that_are_left) {
    auto report = some_report();
    EXPECT_THAT(summary_text(stats_json(report)), Not(HasSubstr("Certificates")));
    auto const now = wall_now();
    auto const in = [&](std::chrono::hours time) { return now + time; };
    using std::chrono::hours;
    report.figures.certificates = {{"CN = a.example", in(hours(24 * 90 + 1))},
                                   {"CN = b.example", in(hours(24 * 13 + 1))},
                                   {"CN = c.example", in(hours(25))},
                                   {"CN = d.example", in(hours(-1))}};
    auto const date = [&](std::chrono::hours time) { return proxy::moment_text(in(time)).substr(0, 10); };
    EXPECT_THAT(summary_text(stats_json(report)),
                HasSubstr("\nCertificates\n"
                          "  CN = d.example            " +
                          date(hours(-1)) + "       expired\n  CN = c.example            " + date(hours(25)) +
                          "    1 day left\n  CN = b.example            " + date(hours(24 * 13 + 1)) +
                          "  13 days left\n  CN = a.example            " + date(hours(24 * 90 + 1)) + "  90 days left\n"));
    auto const sections = summary(stats_json(report), in(hours(24)));
    auto const shown = std::ranges::find(sections, std::string("Certificates"), &SummarySection::title);
    ASSERT_NE(shown, sections.end());
    EXPECT_EQ(shown->lines[2].values.back(), "12 days left");
    EXPECT_TRUE(shown->lines[2].is_trouble);
    EXPECT_FALSE(shown->lines[3].is_trouble);
}

TEST(Summary, has_the_disk_where_there_is_one) {
    auto report = some_report();
    EXPECT_THAT(summary_text(stats_json(report)), Not(HasSubstr("\nDisk\n")));
    auto& disk = report.figures.disk;
    disk.state = store::DiskStats::State::failing;
    disk.trouble = "no space left on device";
    disk.records = 1'000;
    disk.metadata = 10'500;
    disk.hits = 1'234;
    disk.stored_bytes = 1'000'000;
    disk.written_bytes = 1'040'000;
    disk.reinserted_bytes = 104'000;
    disk.not_stored[static_cast<std::size_t>(store::NotStored::too_slow)] = 7;
    LapWatch watch;
    report.disk_costs = watch.costs(disk);
    auto const text = summary_text(stats_json(report));
    EXPECT_THAT(text,
                HasSubstr("\nDisk\n  state                        failing\n  last error            no space left on device\n"));
    EXPECT_THAT(text, HasSubstr("\n  bytes per record               10.50\n"));
    EXPECT_THAT(text, HasSubstr("\n  hits                           1,234\n"));
    EXPECT_THAT(text, HasSubstr("\n  not stored: the disk is too slow             7\n"));
    EXPECT_THAT(text, Not(HasSubstr("not stored: larger")));
    EXPECT_THAT(text, HasSubstr("\n  write amplification             1.04\n"));
    EXPECT_THAT(text, HasSubstr("\n  share rewritten               10.0 %\n"));
    EXPECT_THAT(tiers_text(stats_json(report)), HasSubstr("\nDisk\n"));
}

TEST(WriteCosts, the_first_lap_is_told_apart) {
    store::DiskStats disk;
    LapWatch watch;
    watch.look(disk);
    EXPECT_FALSE(watch.costs(disk).start);
    disk.stored_bytes = 100;
    disk.written_bytes = 110;
    watch.look(disk);
    EXPECT_EQ(watch.costs(disk).first_lap, 1.1);
    EXPECT_FALSE(watch.costs(disk).later);
    disk.laps = 1;
    disk.stored_bytes = 200;
    disk.written_bytes = 260;
    watch.look(disk);
    auto const costs = watch.costs(disk);
    EXPECT_EQ(costs.start, 1.3);
    EXPECT_EQ(costs.first_lap, 1.1);
    EXPECT_EQ(costs.later, 1.5);
}

TEST(Summary, of_another_versions_figures_has_dashes) {
    for (auto const* other : {"{}", "[]", "7", R"({"requests": 3, "cache": {"objects": "many"}, "latency": []})"}) {
        auto const json = nlohmann::ordered_json::parse(other);
        EXPECT_THAT(summary_text(json), HasSubstr("\n  objects                            -\n")) << other;
    }
}

Report what_if_report(std::uint64_t requests) {
    auto report = some_report();
    proxy::Sampling::Report sampled;
    sampled.policy = "lru";
    sampled.what_if.rate = 0.25;
    sampled.what_if.requests = requests;
    sampled.what_if.expected_requests = 2'000;
    sampled.what_if.expected_bytes = 1e6;
    sampled.what_if.seconds = 90;
    for (auto const* policy : {"lru", "gdsf"})
        for (Bytes size : {MiB, 2 * MiB}) sampled.what_if.rows.push_back({policy, size, 500, 750'000});
    report.figures.what_if = sampled;
    return report;
}

TEST(WhatIf, is_a_table_that_marks_what_runs) {
    auto const text = what_if_text(stats_json(what_if_report(2'000)));
    EXPECT_THAT(text, HasSubstr("\n                  1.00 MiB          2.00 MiB\n"
                                "* lru      75.0 % / 25.0 %   75.0 % / 25.0 %\n"
                                "  gdsf     75.0 % / 25.0 %   75.0 % / 25.0 %\n"));
    EXPECT_THAT(text, HasSubstr("from 2,000 requests in 1 min 30 s, 25.0 % of the URLs"));
    EXPECT_THAT(text, Not(HasSubstr("auto")));
}

TEST(WhatIf, says_what_auto_changed_last) {
    auto report = what_if_report(2'000);
    report.figures.what_if->why = "gdsf → lru: 10.0 % fewer object misses";
    EXPECT_THAT(what_if_text(stats_json(report)), HasSubstr("\nmemory.policy auto: gdsf → lru: 10.0 % fewer"));
}

TEST(WhatIf, says_when_there_is_too_little_traffic_or_none_is_sampled) {
    EXPECT_EQ(what_if_text(stats_json(what_if_report(999))),
              "Too little traffic yet: 999 of the 1,000 requests that an estimate needs.\n");
    EXPECT_THAT(what_if_text(stats_json(some_report())), HasSubstr("memory.what_if is false"));
    for (auto const* other : {"{}", "[]", R"({"what_if": {"on": true, "rows": [7]}})"})
        EXPECT_NE(what_if_text(nlohmann::ordered_json::parse(other)), "");
}

}   // namespace
}   // namespace garner::admin
