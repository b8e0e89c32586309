// A direction of the line in simulated time.
#include "share/line.hpp"

#include <gtest/gtest.h>

#include "share/token_bucket.hpp"

namespace garner::share {
namespace {

constexpr Bytes rate = 1'000'000;
SteadyTime at(int ms) { return SteadyTime{} + std::chrono::hours(1) + milliseconds{ms}; }

/// A line of 1 MB/s. Bursts of 10 ms.
struct ALine {
    Line line;
    LineFlow heavy, light;
    ALine() {
        Line::Settings settings;
        settings.rate = rate;
        settings.credit = 20'000;
        line.configure(settings, at(0));
    }
};

TEST(TokenBucket, passes_its_rate_and_one_burst) {
    TokenBucket bucket;
    bucket.configure(rate, 5'000, at(0));
    Bytes passed = 0;
    for (int ms = 0; ms <= 10'000; ++ms)
        for (bucket.refill(at(ms)); bucket.is_free(); passed += 700) bucket.take(700);
    EXPECT_NEAR(static_cast<double>(passed), 10'005'000, 1'400);
}

TEST(TokenBucket, is_always_free_without_a_rate) {
    TokenBucket bucket;
    bucket.take(1'000'000);
    EXPECT_TRUE(bucket.is_free());
    EXPECT_EQ(bucket.debt(), 0);
    bucket.configure(1'000, 10, at(0));
    bucket.take(20);
    EXPECT_FALSE(bucket.is_free());
    EXPECT_EQ(bucket.debt(), 10);
    bucket.configure(0, 0, at(0));
    EXPECT_TRUE(bucket.is_free());
}

TEST(Line, one_alone_gets_all_of_it) {
    ALine all;
    Bytes moved = 0;
    int waits = 0;
    for (int ms = 0; ms < 10'000;) {
        moved += all.line.piece();
        if (all.line.charge(all.heavy, all.line.piece(), at(ms))) continue;
        Line::Place place;
        ASSERT_TRUE(all.line.enter(all.heavy, place, all.line.piece()));
        for (++waits; !place.is_served; all.line.serve(at(ms))) ms += 2;
        EXPECT_TRUE(all.line.leave(all.heavy, place));
    }
    EXPECT_NEAR(static_cast<double>(moved), 1e7, 5e4);
    EXPECT_GT(waits, 100);
}

TEST(Line, who_is_behind_passes_a_line_that_others_have_overdrawn) {
    ALine all;
    while (all.line.charge(all.heavy, 5'000, at(0))) {
    }
    EXPECT_FALSE(all.line.charge(all.heavy, 1, at(0)));
    EXPECT_TRUE(all.line.charge(all.light, 5'000, at(0)));
    Bytes more = 0;
    while (all.line.charge(all.light, 1'000, at(0))) more += 1'000;
    EXPECT_LE(more, 20'000u) << "by its credit at most";
}

TEST(Line, the_debt_of_an_ended_request_is_paid_by_the_next) {
    ALine all;
    while (all.line.charge(all.heavy, 50'000, at(0))) {
    }
    all.line.leave_debt(all.heavy, 50'000);
    Line::Place light, heavy;
    EXPECT_FALSE(all.line.enter(all.light, light, 0)) << "owes nothing";
    ASSERT_TRUE(all.line.enter(all.heavy, heavy, 0));
    EXPECT_EQ(heavy.bytes, 50'000u);
    EXPECT_FALSE(all.line.leave(all.heavy, heavy));
    ASSERT_TRUE(all.line.enter(all.heavy, heavy, 7)) << "a place that was left leaves the debt";
    EXPECT_EQ(heavy.bytes, 50'007u);
    all.line.serve(at(1'000));
    EXPECT_TRUE(all.line.leave(all.heavy, heavy));
    EXPECT_FALSE(all.line.enter(all.heavy, heavy, 0)) << "paid";
}

TEST(Line, who_waits_for_a_line_without_a_limit_waits_no_longer) {
    ALine all;
    while (all.line.charge(all.heavy, 50'000, at(0))) {
    }
    Line::Place place;
    ASSERT_TRUE(all.line.enter(all.heavy, place, 1'000'000));
    all.line.serve(at(10));
    EXPECT_FALSE(place.is_served);
    all.line.configure({}, at(10));
    all.line.serve(at(10));
    EXPECT_TRUE(place.is_served);
    EXPECT_TRUE(all.line.charge(all.heavy, 1'000'000, at(10)));
}

TEST(Line, counts_bytes_and_their_rate) {
    ALine all;
    for (int ms = 0; ms < 20'000; ms += 10) all.line.charge(all.light, 5'000, at(ms));
    auto const figures = all.line.figures(all.light, at(20'000));
    EXPECT_EQ(figures.bytes, 10'000'000u);
    EXPECT_NEAR(figures.bytes_per_second, 500'000, 10'000);
    EXPECT_EQ(figures.waiting, 0u);
    EXPECT_LT(all.line.figures(all.light, at(60'000)).bytes_per_second, 10);
    EXPECT_EQ(all.line.figures().bytes, 10'000'000u);
}

TEST(Line, keeps_the_rate_if_another_worker_has_read_the_clock_before) {
    ALine all;
    for (int ms = 0; ms < 20'000; ms += 10) all.line.charge(all.light, 5'000, at(ms));
    EXPECT_NEAR(all.line.figures(all.light, at(19'985)).bytes_per_second, 500'000, 10'000);
    all.line.charge(all.light, 5'000, at(19'980));
    EXPECT_NEAR(all.line.figures(all.light, at(20'000)).bytes_per_second, 500'000, 10'000);
}

TEST(Line, a_slow_line_is_read_in_small_pieces) {
    Line line;
    EXPECT_EQ(line.piece(), 64 * KiB);
    Line::Settings settings;
    for (auto const& [given, piece] : {std::pair<Bytes, Bytes>{100'000, 2 * KiB}, {1'000'000, 10'000}, {100'000'000, 64 * KiB}}) {
        settings.rate = given;
        line.configure(settings, at(0));
        EXPECT_EQ(line.piece(), piece) << given;
    }
}

}   // namespace
}   // namespace garner::share
