#include "policy/ghost.hpp"

#include <gtest/gtest.h>

namespace garner::policy {
namespace {

TEST(Ghost, remembers_the_last_ones_once) {
    Ghost ghost;
    ghost.count(3);
    for (std::uint64_t key = 0; key < 5; ++key) ghost.put(Ghost::tag(key));
    EXPECT_FALSE(ghost.take(Ghost::tag(0)));
    EXPECT_FALSE(ghost.take(Ghost::tag(1)));
    EXPECT_TRUE(ghost.take(Ghost::tag(3)));
    EXPECT_FALSE(ghost.take(Ghost::tag(3)));
    EXPECT_TRUE(ghost.take(Ghost::tag(2)));
    EXPECT_TRUE(ghost.take(Ghost::tag(4)));
}

TEST(Ghost, remembers_nobody_until_it_is_told_how_many) {
    Ghost ghost;
    ghost.put(Ghost::tag(1));
    EXPECT_FALSE(ghost.take(Ghost::tag(1)));
}

TEST(Ghost, one_that_is_put_in_again_takes_no_second_place) {
    Ghost ghost;
    ghost.count(3);
    for (std::uint64_t key : {1, 2, 3, 1, 1}) ghost.put(Ghost::tag(key));
    EXPECT_TRUE(ghost.take(Ghost::tag(1)));
    EXPECT_FALSE(ghost.take(Ghost::tag(1)));
    EXPECT_TRUE(ghost.take(Ghost::tag(2)));
    EXPECT_TRUE(ghost.take(Ghost::tag(3)));
}

TEST(Ghost, forgets_the_older_ones_when_fewer_are_to_be_remembered) {
    Ghost ghost;
    ghost.count(10);
    for (std::uint64_t key = 0; key < 10; ++key) ghost.put(Ghost::tag(key));
    ghost.count(2);
    ghost.put(Ghost::tag(10));
    ghost.count(10);
    for (std::uint64_t key = 0; key < 9; ++key) EXPECT_FALSE(ghost.take(Ghost::tag(key)));
    EXPECT_TRUE(ghost.take(Ghost::tag(9)));
    EXPECT_TRUE(ghost.take(Ghost::tag(10)));
}

TEST(Ghost, remembers_about_as_many_as_it_was_told_and_few_others) {
    constexpr std::uint64_t count = 100'000;
    Ghost ghost;
    for (std::uint64_t key = 0; key < 5 * count; ++key) {
        ghost.count(std::min(count, key));
        ghost.put(Ghost::tag(key));
    }
    std::uint64_t late = 0, early = 0, never = 0;
    for (std::uint64_t key = 0; key < 10 * count; ++key) {
        auto& group = key >= 5 * count ? never : key >= 5 * count - count / 2 ? late : early;
        group += ghost.take(Ghost::tag(key));
    }
    EXPECT_GT(late, count / 2 * 98 / 100);
    EXPECT_NEAR(static_cast<double>(late + early), count, count * 0.15);
    EXPECT_LT(never, 20u);
    EXPECT_LE(ghost.metadata_bytes(), 8 * count);
}

TEST(Ghost, keeps_what_it_remembers_when_it_grows) {
    Ghost ghost;
    ghost.count(16);
    for (std::uint64_t key = 0; key < 16; ++key) ghost.put(Ghost::tag(key));
    ghost.count(16'384);
    for (std::uint64_t key = 0; key < 16; ++key) EXPECT_TRUE(ghost.take(Ghost::tag(key)));
}

}   // namespace
}   // namespace garner::policy
