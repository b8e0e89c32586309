// The counters of former processes are added to those of /metrics and /stats.json.
#include "admin/former_totals.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "admin/metrics.hpp"

namespace garner::admin {
namespace {

using testing::HasSubstr;

Totals read(std::string const& text) { return Totals::parse(text); }

TEST(FormerTotals, are_added) {
    FormerTotals former;
    EXPECT_EQ(former.with("a_total", 5u), 5u);
    former.add(read(R"({"a_total": 2, "b_total{kind}": {"x": 1, "y": 2}})"));
    former.add(read(R"({"a_total": 3, "b_total{kind}": {"y": 5}})"));
    EXPECT_EQ(former.with("a_total", 5u), 10u);
    EXPECT_EQ(former.with("b_total{kind}", read(R"({"y": 1, "z": 1})")), read(R"({"y": 8, "z": 1, "x": 1})"));
}

TEST(FormerTotals, ignore_what_is_no_count) {
    FormerTotals former;
    for (auto const* text : {"5", "[]", R"({"a_total": "x"})", R"({"a_total": -1})", R"({"a_total": 1.5})", R"({"a_total": null})"})
        former.add(read(text));
    EXPECT_EQ(former.with("a_total", 5u), 5u);
    former.add(read(R"({"a_total": {"x": "y"}})"));
    EXPECT_EQ(former.with("b_total", 5u), 5u);
}

TEST(FormerTotals, increase_by_what_was_counted_since) {
    auto const before = read(R"({"a_total": 2, "b_total": {"x": 1}})");
    auto const now = read(R"({"a_total": 7, "b_total": {"x": 1, "y": 4}, "c_total": 3})");
    EXPECT_EQ(increase(before, now), read(R"({"a_total": 5, "b_total": {"x": 0, "y": 4}, "c_total": 3})"));
}

TEST(FormerTotals, are_in_metrics_and_statistics) {
    Report report;
    report.figures.answers[0] = 4;
    FormerTotals former;
    former.add(read(R"({"garner_requests_total{answer}": {"hit": 6}, "garner_refreshes_total": 9,
                        "garner_peer_queries_total{peer}": {"campus": 2, "gone": 5}})"));
    report.former = &former;
    report.figures.peers.resize(1);
    report.figures.peers[0].options.name = "campus";
    report.figures.peers[0].queries = 1;
    EXPECT_EQ(stats_json(report)["peers"][0]["queries"], 3);
    EXPECT_THAT(metrics_text(report), HasSubstr("garner_requests_total{answer=\"hit\"} 10\n"));
    EXPECT_THAT(metrics_text(report), HasSubstr("garner_refreshes_total 9\n"));
    EXPECT_EQ(stats_json(report)["requests"]["hit"], 10);
    EXPECT_EQ(stats_json(report)["requests"]["total"], 10);
    EXPECT_EQ(totals_of(report)["garner_requests_total{answer}"]["hit"], 10u) << "for the next process";
    EXPECT_FALSE(totals_of(report).contains("garner_uptime_seconds"));
}

TEST(FormerTotals, have_histograms) {
    Report report;
    auto const metric = std::ranges::find_if(metrics(), [](Metric const& one) { return one.histogram != nullptr; });
    ASSERT_NE(metric, metrics().end());
    std::string const name(metric->name);
    Histogram times;
    for (int micros : {0, 20, 20, 5'000'000}) times.add(std::chrono::microseconds(micros));
    report.figures.*metric->histogram = times.snapshot();
    FormerTotals former;
    former.add(totals_of(report));
    former.add(read("{\"" + name + R"(": {"20": 3, "sum": 60, "999999": 7, "x": 1, "21": "y"}})"));
    report.former = &former;
    auto const now = former.with(name, times.snapshot());
    EXPECT_EQ(now.total, 11u);
    EXPECT_EQ(now.sum_micros, 10'000'140u);
    EXPECT_EQ(now.buckets[LatencyBuckets::of(20)], 7u);
    EXPECT_THAT(metrics_text(report), HasSubstr(name + "_count 11\n"));
    EXPECT_EQ(totals_of(report)[name]["20"], 7u);
}

}   // namespace
}   // namespace garner::admin
