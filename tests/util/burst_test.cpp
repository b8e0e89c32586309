#include "util/burst.hpp"

#include <gtest/gtest.h>

namespace garner {
namespace {

TEST(Burst, ends_once_when_a_quarter_is_left) {
    Burst burst;
    for (std::uint32_t count : {0u, 100u, 1'000u, 600u, 251u}) EXPECT_FALSE(burst.has_ended(count)) << count;
    EXPECT_TRUE(burst.has_ended(250));
    EXPECT_FALSE(burst.has_ended(10));
    EXPECT_FALSE(burst.has_ended(0));
    EXPECT_FALSE(burst.has_ended(300));
    EXPECT_TRUE(burst.has_ended(0));
}

TEST(Burst, few_are_none) {
    Burst burst;
    EXPECT_FALSE(burst.has_ended(Burst::least - 1));
    EXPECT_FALSE(burst.has_ended(0));
}

}   // namespace
}   // namespace garner
