#include "admin/recent_windows.hpp"

#include <gtest/gtest.h>

namespace garner::admin {
namespace {

SteadyTime at(std::int64_t second) { return SteadyTime{seconds{second}}; }

Sample sample(std::int64_t second, std::uint64_t requests, std::uint64_t hits) {
    return {.at = at(second), .requests = requests, .hits = hits, .bytes = 1'000 * requests, .hit_bytes = 500 * hits};
}

TEST(Windows, nothing_asked_for_is_no_ratio) {
    EXPECT_FALSE(ratios_between(Sample{}, Sample{}).hit);
    EXPECT_FALSE(ratios_between(sample(0, 7, 3), sample(60, 7, 3)).byte_hit);
    EXPECT_FALSE(Samples{}.over(seconds{60}, sample(1, 2, 1)).hit);
}

TEST(Windows, a_ratio_is_what_came_between_two_samples) {
    auto const ratios = ratios_between(sample(0, 100, 10), sample(60, 300, 160));
    EXPECT_DOUBLE_EQ(*ratios.hit, 0.75);
    EXPECT_DOUBLE_EQ(*ratios.byte_hit, 0.375);
}

TEST(Windows, a_part_read_after_its_whole_is_no_more_than_all) {
    EXPECT_DOUBLE_EQ(*ratios_between(Sample{}, {.at = at(1), .requests = 3, .hits = 4}).hit, 1.0);
}

TEST(Windows, each_window_begins_with_its_oldest_sample) {
    // One request per second: misses for the first half hour, hits for the second.
    Samples samples;
    for (std::int64_t second = 0; second <= 3'600; second += 5)
        samples.add(sample(second, second, second < 1'800 ? 0 : second - 1'800));
    auto const now = sample(3'602, 3'602, 1'802);
    EXPECT_DOUBLE_EQ(*samples.over(seconds{60}, now).hit, 1.0);
    EXPECT_DOUBLE_EQ(*samples.over(seconds{300}, now).hit, 1.0);
    // Starts at second 5, because the sample of second 0 is too old.
    EXPECT_DOUBLE_EQ(*samples.over(seconds{3'600}, now).hit, 1'802.0 / 3'597.0);
    auto const all = samples.all(now);
    EXPECT_DOUBLE_EQ(*all[2].hit, 1'802.0 / 3'597.0);
    EXPECT_DOUBLE_EQ(*all[3].hit, 1'802.0 / 3'602.0);
}

TEST(Windows, less_than_a_window_counts_from_the_first_sample) {
    Samples samples;
    samples.add(sample(0, 0, 0));
    samples.add(sample(5, 10, 5));
    EXPECT_DOUBLE_EQ(*samples.over(seconds{3'600}, sample(7, 20, 5)).hit, 0.25);
}

TEST(Windows, after_a_long_pause_the_newest_sample_is_the_beginning) {
    Samples samples;
    samples.add(sample(0, 0, 0));
    samples.add(sample(5, 10, 0));
    EXPECT_DOUBLE_EQ(*samples.over(seconds{60}, sample(1'000, 20, 10)).hit, 1.0);
}

TEST(Windows, more_samples_than_there_is_room_for_drop_the_oldest) {
    Samples samples;
    auto const end = static_cast<std::int64_t>(3 * Samples::most);
    for (std::int64_t i = 0; i < end; ++i) samples.add(sample(5 * i, i, i < end - 100 ? 0 : i - (end - 100)));
    auto const now = sample(5 * end, end, 100);
    EXPECT_DOUBLE_EQ(*samples.over(seconds{500}, now).hit, 1.0);
    EXPECT_DOUBLE_EQ(*samples.over(seconds{1'000'000}, now).hit, 100.0 / Samples::most);
}

/// Two requests a second, and a line of the log is lost each second since `lost_since`.
Sample busy(std::int64_t second, std::int64_t lost_since) {
    auto one = sample(second, 0, 0);
    one.all_requests = static_cast<std::uint64_t>(2 * second);
    one.failed = static_cast<std::uint64_t>(second / 10);
    one.refused = static_cast<std::uint64_t>(second / 5);
    one.lost_lines = static_cast<std::uint64_t>(second < lost_since ? 0 : second - lost_since);
    return one;
}

TEST(Windows, the_last_minute_is_compared_with_an_average_one) {
    Samples samples;
    for (std::int64_t second = 0; second <= 1'000; second += 5) samples.add(busy(second, 950));
    auto const trend = samples.trend(busy(1'000, 950));
    EXPECT_DOUBLE_EQ(trend.last.requests, 120);
    EXPECT_DOUBLE_EQ(trend.last.failed, 6);
    EXPECT_DOUBLE_EQ(trend.last.refused, 12);
    EXPECT_DOUBLE_EQ(trend.last.lost_lines, 50);
    ASSERT_TRUE(trend.usual);
    EXPECT_DOUBLE_EQ(trend.usual->requests, 120);
    EXPECT_NEAR(trend.usual->failed, 6, 0.1);
    EXPECT_DOUBLE_EQ(trend.usual->lost_lines, 0);
}

TEST(Windows, no_minute_is_usual_in_the_first_ones) {
    EXPECT_FALSE(Samples{}.trend(busy(3, 0)).usual);
    Samples samples;
    for (std::int64_t second = 0; second <= 355; second += 5) samples.add(busy(second, 0));
    EXPECT_FALSE(samples.trend(busy(355, 0)).usual);
    samples.add(busy(360, 0));
    EXPECT_TRUE(samples.trend(busy(360, 0)).usual);
}

TEST(Windows, go_on_in_another_process) {
    Samples former;
    for (std::int64_t second = 0; second <= 1'000; second += 5) former.add(busy(second, 950));
    auto const handed = former.handed(busy(1'002, 950));
    ASSERT_EQ(handed.size(), 201u);
    EXPECT_EQ(handed.front().age, seconds{1'002});
    EXPECT_EQ(handed.front().since.all_requests, 2'004u);
    // That process has another clock and has counted three requests.
    Samples fresh;
    fresh.add(sample(70'000, 0, 0));
    Sample now{.at = at(70'003), .all_requests = 3};
    fresh.adopt(handed, now);
    auto const trend = fresh.trend(now);
    EXPECT_DOUBLE_EQ(trend.last.requests, 2 * 57);
    ASSERT_TRUE(trend.usual);
    EXPECT_DOUBLE_EQ(trend.usual->requests, 120);
    now = {.at = at(70'008), .all_requests = 13};
    fresh.add(now);
    EXPECT_DOUBLE_EQ(fresh.trend(now).last.requests, 2 * 52 + 10);
    EXPECT_EQ(fresh.handed(now).front().since.all_requests, 2'014u) << "for the process after it";
}

TEST(Windows, of_another_process_are_no_more_than_there_is_room_for) {
    std::vector<Samples::Handed> many;
    for (std::size_t i = 2 * Samples::most; i > 0; --i) many.push_back({.age = seconds{5 * i}, .since = {.requests = i}});
    Samples samples;
    samples.adopt(many, sample(1, 0, 0));
    EXPECT_EQ(samples.handed(sample(1, 0, 0)).size(), Samples::most);
}

TEST(Windows, what_no_cache_could_have_answered_counts_for_no_ratio) {
    Figures figures;
    for (auto& answer : figures.answers) answer = 2;
    figures.requests = 2 * answer_count;
    auto const counted = sample_of(figures);
    EXPECT_EQ(counted.requests, 2 * (answer_count - 6));
    EXPECT_EQ(counted.hits, 2u);
}

}   // namespace
}   // namespace garner::admin
