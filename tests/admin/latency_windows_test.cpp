#include "admin/recent_windows.hpp"

#include <gtest/gtest.h>

namespace garner::admin {
namespace {

SteadyTime moment(std::int64_t second) { return SteadyTime{} + seconds{second}; }

/// This many hits of 10 us and of 1 ms since the start.
Latencies times(int fast, int slow) {
    Histogram hits;
    for (int i = 0; i < fast; ++i) hits.add(std::chrono::microseconds(10));
    for (int i = 0; i < slow; ++i) hits.add(std::chrono::microseconds(1'000));
    return {hits.snapshot(), {}};
}

TEST(LatencyWindows, forget_what_is_older_than_they_are) {
    LatencySamples samples;
    for (std::int64_t second = 0; second <= 400; second += 5) samples.add(moment(second), times(second < 300 ? 0 : 100, 0));
    auto const now = samples.over(moment(405), times(100, 7));
    EXPECT_EQ(now[0].hit.total, 7u) << "the hundred fast ones came more than a minute ago";
    EXPECT_GE(now[0].hit.percentile(50).count(), 1'000);
    EXPECT_EQ(now[1].hit.total, 107u);
    EXPECT_EQ(now[1].hit.percentile(50).count(), 10);
    EXPECT_EQ(now[0].miss.total, 0u);
}

TEST(LatencyWindows, the_last_hour_has_samples_a_minute_apart) {
    LatencySamples samples;
    for (std::int64_t second = 0; second <= 7'200; second += 5) samples.add(moment(second), times(second < 3'000 ? 0 : 100, 0));
    EXPECT_EQ(samples.over(moment(7'205), times(107, 0))[2].hit.total, 7u);
    LatencySamples younger;
    for (std::int64_t second = 0; second <= 7'200; second += 5) younger.add(moment(second), times(second < 4'000 ? 0 : 100, 0));
    EXPECT_EQ(younger.over(moment(7'205), times(107, 0))[2].hit.total, 107u);
    EXPECT_EQ(younger.over(moment(7'205), times(107, 0))[1].hit.total, 7u);
}

TEST(LatencyWindows, begin_with_the_first_sample_and_without_one_with_the_start) {
    LatencySamples samples;
    EXPECT_EQ(samples.over(moment(3), times(2, 0))[0].hit.total, 2u);
    samples.add(moment(5), times(2, 0));
    samples.add(moment(6), times(9, 0));
    EXPECT_EQ(samples.over(moment(10), times(10, 0))[0].hit.total, 8u) << "a sample that came too early is dropped";
}

TEST(LatencyWindows, go_on_in_another_process) {
    LatencySamples former;
    for (std::int64_t second = 0; second <= 400; second += 5) former.add(moment(second), times(second < 300 ? 0 : 100, 0));
    auto const handed = former.handed(moment(405), times(100, 7));
    LatencySamples fresh;
    fresh.add(moment(90'000), times(0, 0));
    fresh.adopt(handed, moment(90'005));
    auto const now = fresh.over(moment(90'005), times(0, 0));
    EXPECT_EQ(now[0].hit.total, 7u);
    EXPECT_EQ(now[1].hit.total, 107u);
    EXPECT_EQ(now[1].hit.percentile(50).count(), 10);
    EXPECT_EQ(now[2].hit.total, 107u);
    fresh.add(moment(90'020), times(0, 2));
    EXPECT_EQ(fresh.over(moment(90'030), times(0, 3))[0].hit.total, 10u);
    EXPECT_EQ(fresh.over(moment(90'080), times(0, 3))[0].hit.total, 1u);
    auto const again = fresh.handed(moment(90'030), times(0, 3));
    EXPECT_EQ(again.dense.size(), handed.dense.size()) << "the oldest is dropped";
    ASSERT_EQ(again.sparse.size(), handed.sparse.size() + 1) << "a minute after the last one";
    EXPECT_EQ(again.sparse[handed.sparse.size() - 1].times.hit.total, handed.sparse.back().times.hit.total + 2);
    EXPECT_EQ(again.sparse.back().times.hit.total, 1u);
}

}   // namespace
}   // namespace garner::admin
