#include "app/trial.hpp"

#include <gtest/gtest.h>

#include <string>

namespace garner::app {
namespace {

SteadyTime at(int second) { return SteadyTime{} + seconds(second); }

TEST(Trial, returns_the_confirmed_configuration_once_its_time_is_over) {
    Trial<std::string> trial;
    EXPECT_EQ(trial.take_if_over(at(1)), std::nullopt);
    trial.begin("first", at(10));
    EXPECT_EQ(trial.take_if_over(at(9)), std::nullopt);
    EXPECT_EQ(trial.take_if_over(at(10)), "first");
    EXPECT_EQ(trial.take_if_over(at(11)), std::nullopt);
}

TEST(Trial, a_second_one_keeps_the_configuration_that_was_confirmed) {
    Trial<std::string> trial;
    trial.begin("first", at(10));
    trial.begin("unconfirmed", at(20));
    EXPECT_EQ(trial.take_if_over(at(15)), std::nullopt);
    EXPECT_EQ(trial.take_if_over(at(20)), "first");
}

TEST(Trial, ends_when_it_is_confirmed) {
    Trial<std::string> trial;
    EXPECT_FALSE(trial.confirm());
    trial.begin("first", at(10));
    EXPECT_TRUE(trial.is_running());
    EXPECT_TRUE(trial.confirm());
    EXPECT_FALSE(trial.is_running());
    EXPECT_EQ(trial.take_if_over(at(30)), std::nullopt);
}

}   // namespace
}   // namespace garner::app
