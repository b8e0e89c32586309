#include "admin/summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "admin/page.hpp"
#include "admin/stats_json.hpp"
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
    report.figures.miss_time = times.snapshot();
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
    EXPECT_THAT(text, HasSubstr("\n  half within                        -       2.05 ms\n"));
}

TEST(Summary, of_another_versions_figures_has_dashes) {
    for (auto const* other : {"{}", "[]", "7", R"({"requests": 3, "cache": {"objects": "many"}, "latency": []})"}) {
        auto const json = nlohmann::ordered_json::parse(other);
        EXPECT_THAT(summary_text(json), HasSubstr("\n  objects                            -\n")) << other;
        EXPECT_THAT(page(json), HasSubstr("<dd>-<small>")) << other;
    }
}

TEST(Page, needs_nothing_from_elsewhere) {
    auto const html = page(stats_json(some_report()));
    for (auto const* outside : {"http://", "https://", "src=", "href=", "url(", "@import", "<script"})
        EXPECT_THAT(html, Not(HasSubstr(outside)));
    EXPECT_THAT(html, HasSubstr("<meta http-equiv=\"refresh\" content=\"5\">"));
    EXPECT_THAT(html, HasSubstr("<meta name=\"viewport\""));
    EXPECT_THAT(html, Not(HasSubstr(" style=")));
    EXPECT_THAT(page_policy(), HasSubstr("default-src 'none'; style-src 'sha256-"));
    EXPECT_THAT(page_policy(), Not(HasSubstr("unsafe")));
}

TEST(Page, takes_no_markup_from_the_figures) {
    auto report = some_report();
    report.figures.log.last_error = "<b>&\"";
    auto const html = page(stats_json(report));
    EXPECT_THAT(html, HasSubstr("&lt;b&gt;&amp;&quot;"));
    EXPECT_THAT(html, Not(HasSubstr("<b>")));
}

}  // namespace
}  // namespace garner::admin
