#include "admin/top_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "admin/human.hpp"

namespace garner::admin {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Json stats_at(double uptime, unsigned requests) {
    return {{"version", "0.1.0"},
            {"uptime_seconds", uptime},
            {"health",
             {{"sentence", "Attention: parent campus is dead."},
              {"items", {{{"what", "parent campus is dead"}, {"fix", "start it"}}}}}},
            {"requests", {{"total", requests}, {"hit", requests / 2}, {"failed", 0u}, {"refused", 0u}}},
            {"client", {{"sent_bytes", requests * 1024u}}},
            {"connections", {{"now", 12u}}},
            {"hit_ratio", {{"60s", 0.5}}},
            {"top",
             {{"hosts", {{{"name", "<img>\x1b[2J.example"}, {"requests", 7u}, {"bytes", 2048u}, {"hits", 3u}, {"reason", ""}}}},
              {"clients", Json::array()}}},
            {"refusals",
             {{{"time", "2026-11-26T12:00:00Z"}, {"client", "10.0.0.7"}, {"url", "http://a.example/\tb"}, {"rule", "exams"}}}}};
}

TEST(TopText, rates_are_the_difference_of_two_moments) {
    auto const text = top_lines(top_view(stats_at(10, 100), stats_at(12, 150)), "T");
    EXPECT_THAT(text, HasSubstr("T\trequests\t25.0 a second\n"));
    EXPECT_THAT(text, HasSubstr("T\thits\t12.5 a second\n"));
    EXPECT_THAT(text, HasSubstr("T\tto clients\t25.0 KiB a second\n"));
    EXPECT_THAT(text, HasSubstr("T\thit ratio, 60 s\t50.0 %\n"));
    EXPECT_THAT(text, HasSubstr("T\tconnections\t12\n"));
}

TEST(TopText, without_a_moment_before_there_are_no_rates) {
    for (auto const& before : {Json(), stats_at(100, 10'000), stats_at(12, 150)})   // none; another process; the same moment
        EXPECT_THAT(top_lines(top_view(before, stats_at(12, 150)), "T"), HasSubstr("T\trequests\t-\n"));
}

TEST(TopText, lines_begin_with_the_health_and_have_no_control_characters) {
    auto const text = top_lines(top_view(Json(), stats_at(12, 150)), "T");
    EXPECT_THAT(text, StartsWith("T\thealth\tAttention: parent campus is dead.\nT\tproblem\tparent campus is dead (start it)\n"));
    EXPECT_THAT(text, HasSubstr("T\thost\t<img>?[2J.example\t7 requests\t2.00 KiB\t\n"));
    EXPECT_THAT(text, HasSubstr("T\trefused\thttp://a.example/?b\t10.0.0.7\t2026-11-26T12:00:00Z\texams\n"));
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_THAT(text, Not(HasSubstr("\tclient\t")));
}

TEST(TopText, a_screen_fits_every_terminal) {
    auto const view = top_view(stats_at(10, 100), stats_at(12, 150));
    EXPECT_THAT(top_screen(view, 60, 120), StartsWith("Attention: parent campus is dead.\n"));
    EXPECT_THAT(top_screen(view, 60, 120), HasSubstr("\nHosts\n  <img>?[2J.example "));
    for (std::size_t lines : {0u, 1u, 5u, 24u, 200u})
        for (std::size_t width : {0u, 1u, 20u, 79u, 80u, 300u}) {
            std::istringstream screen(top_screen(view, lines, width));
            std::size_t count = 0;
            for (std::string line; std::getline(screen, line); ++count) EXPECT_LE(columns(line), width) << line;
            EXPECT_LE(count, lines);
        }
}

TEST(TopText, another_version_is_shown_as_far_as_it_is_known) {
    EXPECT_THAT(top_lines(top_view(Json(), Json{{"version", "9"}}), "T"), HasSubstr("T\trequests\t-\n"));
    EXPECT_THAT(top_lines(top_view(Json::array(), Json{{"version", 1}, {"top", 3}, {"health", {{"items", 3}}}}), "T"),
                HasSubstr("T\trequests\t-\n"));
}

}   // namespace
}   // namespace garner::admin
