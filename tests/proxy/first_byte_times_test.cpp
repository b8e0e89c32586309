#include "proxy/first_byte_times.hpp"

#include <gtest/gtest.h>

namespace garner::proxy {
namespace {

TEST(FirstByteTimes, a_follower_is_patient_for_four_times_the_usual) {
    EXPECT_EQ(follow_patience(seconds{1}, std::nullopt), seconds{1});
    EXPECT_EQ(follow_patience(seconds{1}, milliseconds{100}), seconds{1});
    EXPECT_EQ(follow_patience(seconds{1}, milliseconds{500}), seconds{2});
    EXPECT_EQ(follow_patience(seconds{1}, seconds{60}), seconds{11});
}

TEST(FirstByteTimes, it_knows_the_mean_of_each_origin_and_forgets_the_one_whose_place_is_taken) {
    FirstByteTimes times;
    EXPECT_FALSE(times.usual(7));
    times.add(7, milliseconds{80});
    times.add(8, milliseconds{10});
    EXPECT_EQ(times.usual(7), milliseconds{80});
    times.add(7, milliseconds{160});
    EXPECT_EQ(times.usual(7), milliseconds{90});
    times.add(7 + 1'024, milliseconds{20});
    EXPECT_FALSE(times.usual(7));
    EXPECT_EQ(times.usual(7 + 1'024), milliseconds{20});
    EXPECT_EQ(times.usual(8), milliseconds{10});
}

}   // namespace
}   // namespace garner::proxy
