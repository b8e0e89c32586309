// The budget is exact: it refuses a reservation that does not fit without taking anything, and returns to zero.
#include "store/budget.hpp"

#include <gtest/gtest.h>

#include <random>
#include <thread>
#include <vector>

namespace garner::store {
namespace {

TEST(Budget, takes_all_or_nothing) {
    Budget budget(1'000, 400);
    EXPECT_TRUE(budget.reserve(600));
    EXPECT_FALSE(budget.reserve(401));
    EXPECT_EQ(budget.used(), 600u);
    EXPECT_TRUE(budget.reserve(400));
    EXPECT_FALSE(budget.reserve(1));
    EXPECT_TRUE(budget.reserve(0));
    budget.release(1'000);
    EXPECT_EQ(budget.used(), 0u);
}

TEST(Budget, more_than_the_capacity_never_fits_however_large_the_number) {
    Budget budget(1'000, 400);
    EXPECT_TRUE(budget.reserve(1));
    EXPECT_FALSE(budget.reserve(UINT64_MAX));
    EXPECT_FALSE(budget.reserve_filling(UINT64_MAX));
    EXPECT_EQ(budget.used(), 1u);
    EXPECT_EQ(budget.filling(), 0u);
}

TEST(Budget, growing_bodies_have_their_own_share) {
    Budget budget(1'000, 400);
    EXPECT_TRUE(budget.reserve_filling(400));
    EXPECT_FALSE(budget.reserve_filling(1));
    EXPECT_EQ(budget.used(), 0u);
    budget.release_filling(400);
    EXPECT_EQ(budget.filling(), 0u);
}

TEST(Budget, a_smaller_capacity_refuses_until_enough_was_given_back) {
    Budget budget(1'000, 400);
    EXPECT_TRUE(budget.reserve(800));
    budget.set_capacity(500, 100);
    EXPECT_FALSE(budget.reserve(1));
    EXPECT_FALSE(budget.reserve_filling(101));
    budget.release(301);
    EXPECT_TRUE(budget.reserve(1));
    EXPECT_EQ(budget.used(), 500u);
    EXPECT_EQ(budget.capacity(), 500u);
}

TEST(Budget, giving_back_more_than_was_taken_is_a_bug_that_stops) {
    Budget budget(1'000, 400);
    EXPECT_TRUE(budget.reserve(10));
    EXPECT_DEATH(budget.release(11), "broken invariant");
}

TEST(Budget, holds_its_bound_while_many_threads_take_and_give) {
    constexpr Bytes capacity = 10'000;
    Budget budget(capacity, capacity / 4);
    auto work = [&](unsigned seed) {
        std::mt19937 random(seed);
        std::vector<Bytes> held;
        for (int i = 0; i < 20'000; ++i) {
            Bytes bytes = random() % 3'000;
            if (random() % 2 && budget.reserve(bytes)) held.push_back(bytes);
            ASSERT_LE(budget.used(), capacity);
            if (!held.empty() && random() % 2) {
                budget.release(held.back());
                held.pop_back();
            }
        }
        for (auto bytes : held) budget.release(bytes);
    };
    std::vector<std::jthread> threads;
    for (unsigned seed = 1; seed <= 4; ++seed) threads.emplace_back(work, seed);
    threads.clear();
    EXPECT_EQ(budget.used(), 0u);
}

}   // namespace
}   // namespace garner::store
