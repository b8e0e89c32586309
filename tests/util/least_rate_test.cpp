#include "util/least_rate.hpp"

#include <gtest/gtest.h>

namespace garner {
namespace {

TEST(LeastRate, a_body_that_drips_is_too_slow_once_patience_has_passed) {
    constexpr LeastRate least{.per_second = KiB, .after = milliseconds{30'000}};
    EXPECT_FALSE(is_too_slow(1, milliseconds{30'000}, least));
    EXPECT_TRUE(is_too_slow(31, milliseconds{31'000}, least)) << "a byte a second";
    EXPECT_TRUE(is_too_slow(31 * KiB - 1, milliseconds{31'000}, least));
    EXPECT_FALSE(is_too_slow(31 * KiB, milliseconds{31'000}, least));
    EXPECT_FALSE(is_too_slow(256 * MiB, milliseconds{3'600'000}, least));
}

TEST(LeastRate, without_one_nothing_is_too_slow) {
    EXPECT_FALSE(is_too_slow(0, seconds{86'400}, {.per_second = 0, .after = seconds{30}}));
}

TEST(LeastRate, only_the_time_of_waiting_counts_and_it_is_added_up) {
    Pace pace;
    for (int i = 0; i < 30; ++i) pace.add(1, seconds{1});
    EXPECT_FALSE(pace.is_below({}));
    pace.add(1, seconds{1});
    EXPECT_TRUE(pace.is_below({}));
    pace.add(16 * KiB, seconds{0});
    EXPECT_FALSE(pace.is_below({}));
}

}   // namespace
}   // namespace garner
