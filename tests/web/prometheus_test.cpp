#include "web/prometheus.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace garner::web {
namespace {

using Json = nlohmann::ordered_json;

TEST(Prometheus, a_family_is_told_once_before_its_samples) {
    PrometheusText text;
    text.add("a_replies_total{peer,said=\"hit\"}", "Replies.", Json{{"one", 1}, {"t\"wo", UINT64_MAX}});
    text.add("a_replies_total{peer,said=\"miss\"}", "Replies.", Json{{"one", 2}});
    text.add("a_version{version}", "Version.", "0.1");
    EXPECT_EQ(text.take(), "# HELP a_replies_total Replies.\n# TYPE a_replies_total counter\n"
                           "a_replies_total{peer=\"one\",said=\"hit\"} 1\n"
                           "a_replies_total{peer=\"t\\\"wo\",said=\"hit\"} 18446744073709551615\n"
                           "a_replies_total{peer=\"one\",said=\"miss\"} 2\n"
                           "# HELP a_version Version.\n# TYPE a_version gauge\n"
                           "a_version{version=\"0.1\"} 1\n");
}

/// One label that is not UTF-8 makes Prometheus reject all metrics of the process.
TEST(Prometheus, labels_are_UTF_8_in_one_line) {
    PrometheusText text;
    text.add("a_lag{member}", "Lag.", Json{{"b\xc3\xbcro\n\xff \\", 1}});
    EXPECT_EQ(text.take(), "# HELP a_lag Lag.\n# TYPE a_lag gauge\na_lag{member=\"b\xc3\xbcro\\n? \\\\\"} 1\n");
}

TEST(Prometheus, values_are_numbers) {
    PrometheusText text;
    text.add("a_ratio{window}", "Ratio.", Json{{"60s", nullptr}, {"5m", 0.25}, {"1h", true}});
    EXPECT_EQ(text.take(), "# HELP a_ratio Ratio.\n# TYPE a_ratio gauge\n"
                           "a_ratio{window=\"60s\"} NaN\na_ratio{window=\"5m\"} 0.25\na_ratio{window=\"1h\"} 1\n");
}

}   // namespace
}   // namespace garner::web
