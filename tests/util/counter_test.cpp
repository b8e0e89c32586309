#include "util/counter.hpp"

#include <gtest/gtest.h>

#include <random>
#include <thread>
#include <vector>

namespace garner {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;

TEST(Counter, adds) {
    Counter counter;
    counter.add();
    counter.add(41);
    EXPECT_EQ(counter.value(), 42u);
}

TEST(Counter, is_read_while_it_is_written) {
    Counter counter;
    std::jthread writer([&] {
        for (int i = 0; i < 100'000; ++i) counter.add();
    });
    for (std::uint64_t last = 0, now = 0; now < 100'000; last = now) {
        now = counter.value();
        ASSERT_GE(now, last);
    }
}

TEST(LatencyBuckets, follow_each_other_without_gap_and_are_narrow) {
    EXPECT_EQ(LatencyBuckets::least(0), 0u);
    for (std::size_t i = 0; i < LatencyBuckets::count(); ++i) {
        auto least = LatencyBuckets::least(i), most = LatencyBuckets::most(i);
        ASSERT_LE(least, most);
        ASSERT_EQ(LatencyBuckets::of(least), i);
        ASSERT_EQ(LatencyBuckets::of(most), i);
        ASSERT_LE(most - least, least / 16);
        if (i > 0) {
            ASSERT_EQ(LatencyBuckets::most(i - 1) + 1, least);
        }
    }
    EXPECT_EQ(LatencyBuckets::of(UINT64_MAX), LatencyBuckets::count() - 1);
}

TEST(Histogram, gives_percentiles_within_a_sixteenth) {
    std::mt19937_64 random(1);
    Histogram histogram;
    std::vector<std::int64_t> values;
    for (int i = 0; i < 10'000; ++i) {
        values.push_back(static_cast<std::int64_t>(random() >> (32 + random() % 32)));
        if (values.back() > 3'600'000'000) values.back() = 3'600'000'000;
        histogram.add(microseconds(values.back()));
    }
    std::ranges::sort(values);
    for (double percent : {0.01, 1.0, 25.0, 50.0, 90.0, 99.0, 99.9, 100.0}) {
        auto exact = values[static_cast<std::size_t>(std::ceil(percent / 100 * 10'000)) - 1];
        auto got = histogram.percentile(percent).count();
        EXPECT_GE(got, exact) << percent;
        EXPECT_LE(got, exact + exact / 16) << percent;
    }
}

TEST(Histogram, takes_what_is_out_of_range) {
    Histogram histogram;
    EXPECT_EQ(histogram.percentile(50), microseconds(0));
    histogram.add(microseconds(-5));
    EXPECT_EQ(histogram.percentile(100), microseconds(0));
    histogram.add(hours(30));
    EXPECT_EQ(histogram.percentile(100), hours(1));
    EXPECT_EQ(histogram.percentile(1000), hours(1));
    EXPECT_EQ(histogram.percentile(-1), microseconds(0));
}

TEST(Histogram, several_workers_make_one) {
    Histogram one, other;
    for (int i = 0; i < 99; ++i) one.add(microseconds(10));
    other.add(microseconds(1000));
    auto both = one.snapshot();
    both += other.snapshot();
    EXPECT_EQ(both.total, 100u);
    EXPECT_EQ(both.sum_micros, 1990u);
    EXPECT_EQ(both.mean(), microseconds(19));
    EXPECT_EQ(both.percentile(99), microseconds(10));
    EXPECT_GE(both.percentile(100), microseconds(1000));
    EXPECT_EQ(LatencySnapshot{}.mean(), microseconds(0));
}

}   // namespace
}   // namespace garner
