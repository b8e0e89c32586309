#include "seen/body_rate.hpp"

#include <gtest/gtest.h>

namespace garner::seen {
namespace {

TEST(BodyRate, a_body_that_drips_is_too_slow_once_patience_has_passed) {
    constexpr milliseconds patience{30'000};
    EXPECT_FALSE(is_too_slow(1, milliseconds{30'000}, patience));
    EXPECT_TRUE(is_too_slow(31, milliseconds{31'000}, patience)) << "a byte a second";
    EXPECT_TRUE(is_too_slow(31 * KiB - 1, milliseconds{31'000}, patience));
    EXPECT_FALSE(is_too_slow(31 * KiB, milliseconds{31'000}, patience));
    EXPECT_FALSE(is_too_slow(256 * MiB, milliseconds{3'600'000}, patience));
}

}  // namespace
}  // namespace garner::seen
