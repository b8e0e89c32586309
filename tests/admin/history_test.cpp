#include "admin/history.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "support/tables.hpp"

namespace garner::admin {
namespace {

/// The figures of a proxy with one worker at a second, counted by the test.
struct Past {
    proxy::Counters worker;
    Figures figures;
    History history;

    Past() { figures.workers = {&worker}; }
    void answer(proxy::Answer answer, std::uint64_t number) {
        figures.answers[static_cast<std::size_t>(answer)] += number;
        figures.requests += number;
    }
    void add(std::int64_t second) {
        figures.at = SteadyTime{} + seconds{second};
        figures.hit_time = worker.hit_time.snapshot();
        history.add(figures);
    }
    HistorySeries series(std::string_view name) const {
        for (auto& one : history.all())
            if (one.name == name) return one;
        ADD_FAILURE() << "no series " << name;
        return {};
    }
};

using Values = std::vector<std::optional<double>>;

TEST(History, has_what_happened_in_each_interval) {
    Past past;
    past.add(0);
    past.answer(proxy::Answer::hit, 10);
    past.worker.client_sent.add(5'000);
    past.figures.connections_now = 3;
    past.add(5);
    past.answer(proxy::Answer::miss, 5);
    past.figures.connections_now = 2;
    past.add(10);
    past.add(15);
    EXPECT_EQ(past.series("requests").fine, (Values{2, 1, 0}));
    EXPECT_EQ(past.series("hits").fine, (Values{2, 0, 0}));
    EXPECT_EQ(past.series("hit_ratio").fine, (Values{1, 0, std::nullopt}));
    EXPECT_EQ(past.series("client_sent_bytes").fine, (Values{1'000, 0, 0}));
    EXPECT_EQ(past.series("connections").fine, (Values{3, 2, 2}));
    EXPECT_TRUE(past.series("requests").coarse.empty()) << "the minute is not over";
}

TEST(History, has_the_median_of_each_interval) {
    Past past;
    past.add(0);
    past.worker.hit_time.add(microseconds{10});
    past.add(5);
    past.add(10);
    past.worker.hit_time.add(microseconds{20});
    past.add(15);
    EXPECT_EQ(past.series("hit_p50_us").fine, (Values{10, std::nullopt, 20}));
}

TEST(History, minutes_follow_from_the_same_figures_and_the_oldest_values_are_dropped) {
    Past past;
    for (std::int64_t second = 0; second <= 2 * 3'600; second += 5) {
        past.add(second);
        past.answer(proxy::Answer::hit, second < 3'600 ? 5 : 10);
    }
    auto const requests = past.series("requests");
    EXPECT_EQ(requests.fine, Values(History::fine_most, 2));
    EXPECT_EQ(requests.coarse, Values(History::coarse_most, 2));
}

TEST(History, goes_on_in_another_process) {
    Past former;
    former.add(0);
    former.answer(proxy::Answer::hit, 10);
    former.add(5);
    former.answer(proxy::Answer::hit, 4);
    former.figures.at += seconds{2};
    auto const handed = former.history.handed(former.figures);
    Past fresh;
    fresh.add(1'000);
    fresh.figures.at += seconds{1};
    fresh.history.adopt(handed, fresh.figures);
    EXPECT_EQ(fresh.series("requests").fine, (Values{2}));
    fresh.answer(proxy::Answer::miss, 6);
    fresh.add(1'004);
    EXPECT_EQ(fresh.series("requests").fine, (Values{2, 2})) << "the interval has begun in the former process";
    EXPECT_EQ(fresh.series("hit_ratio").fine, (Values{1, 0.4}));
}

TEST(History, each_series_is_documented) {
    std::vector<std::string> rows, wanted;
    for (auto const& row : test::documented_rows("docs/reference/metrics.md", "History")) rows.push_back(row);
    std::string table;
    for (auto const& [name, unit] : history_names()) {
        wanted.push_back("| `" + std::string(name) + "` | " + std::string(unit) + " |");
        table += wanted.back() + "\n";
    }
    EXPECT_EQ(rows, wanted) << "The table is to be:\n" << table;
}

}   // namespace
}   // namespace garner::admin
