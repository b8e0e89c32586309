// Intervals for refetching and dropping peers' digests, and the lifetime of the own digest.
#include "icp/digest_times.hpp"

#include <gtest/gtest.h>

namespace garner::icp {
namespace {

using namespace std::chrono_literals;

SteadyTime const start{1'000'000s};

TEST(DigestTimes, a_new_peer_is_asked_at_once) { EXPECT_TRUE(DigestTimes().due(start)); }

TEST(DigestTimes, the_next_one_is_fetched_a_little_after_the_last_has_expired) {
    DigestTimes times;
    times.fetched(1h, start);
    EXPECT_FALSE(times.due(start + 1h));
    EXPECT_FALSE(times.due(start + 1h + 4min + 59s));
    EXPECT_TRUE(times.due(start + 1h + 5min));
    EXPECT_FALSE(times.outlived(start + 2h - 1s));
    EXPECT_TRUE(times.outlived(start + 2h));
    times.fetched(24h, start);
    EXPECT_FALSE(times.due(start + 24h + 4min));
    EXPECT_TRUE(times.due(start + 24h + 5min));
}

TEST(DigestTimes, no_peer_is_asked_all_the_time) {
    DigestTimes times;
    times.fetched(1s, start);
    EXPECT_FALSE(times.due(start + 10s));
    EXPECT_TRUE(times.due(start + 11s));
    EXPECT_FALSE(times.outlived(start + 19s));
}

TEST(DigestTimes, who_does_not_say_is_taken_for_an_hour) {
    DigestTimes times;
    times.fetched(std::nullopt, start);
    EXPECT_FALSE(times.due(start + 1h));
    EXPECT_TRUE(times.due(start + 1h + 5min));
}

TEST(DigestTimes, failures_are_asked_again_later_and_later) {
    DigestTimes times;
    auto now = start;
    for (auto const wait : {10s, 20s, 40s, 80s, 160s, 320s, 640s, 1'280s, 2'560s, 3'600s, 3'600s}) {
        times.failed(now);
        EXPECT_TRUE(times.fails());
        EXPECT_FALSE(times.due(now + wait - 1s));
        now += wait;
        EXPECT_TRUE(times.due(now));
    }
    times.fetched(1h, now);
    EXPECT_FALSE(times.fails());
    times.failed(now);
    EXPECT_TRUE(times.due(now + 10s));
}

TEST(DigestTimes, what_was_fetched_is_forgotten_though_the_peer_fails) {
    DigestTimes times;
    times.fetched(1h, start);
    times.failed(start + 65min);
    EXPECT_FALSE(times.outlived(start + 119min));
    EXPECT_TRUE(times.outlived(start + 120min));
}

TEST(DigestLife, grows_with_the_cache) {
    EXPECT_EQ(life_of_digest(0s, 1h), 1min);
    EXPECT_EQ(life_of_digest(59s, 1h), 1min);
    EXPECT_EQ(life_of_digest(10min, 1h), 10min);
    EXPECT_EQ(life_of_digest(24h, 1h), 1h);
    EXPECT_EQ(life_of_digest(0s, 5s), 5s);
}

}   // namespace
}   // namespace garner::icp
