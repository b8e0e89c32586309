// Unfinished heads: the largest is dropped when their memory limit is reached.
#include "proxy/head_budget.hpp"

#include <gtest/gtest.h>

namespace garner::proxy {
namespace {

void count(void* calls) { ++*static_cast<int*>(calls); }

TEST(HeadBudget, the_largest_head_gives_way_to_a_smaller_one) {
    HeadBudget budget;
    budget.max = 100;
    int large_refused = 0, small_refused = 0;
    HeadBudget::Part large(budget, count, &large_refused), small(budget, count, &small_refused);
    EXPECT_TRUE(large.resize(90));
    EXPECT_TRUE(small.resize(20));
    EXPECT_TRUE(large.refused());
    EXPECT_FALSE(small.refused());
    EXPECT_EQ(large_refused, 1);
    EXPECT_EQ(small_refused, 0);
    EXPECT_EQ(budget.used(), 20u);
}

TEST(HeadBudget, a_head_that_is_the_largest_itself_gets_no_more) {
    HeadBudget budget;
    budget.max = 100;
    int refused = 0;
    HeadBudget::Part other(budget, count, &refused), asking(budget, count, &refused);
    EXPECT_TRUE(other.resize(40));
    EXPECT_FALSE(asking.resize(80));
    EXPECT_FALSE(other.refused());
}

TEST(HeadBudget, the_oldest_of_equal_heads_gives_way) {
    HeadBudget budget;
    budget.max = 100;
    int refused = 0;
    HeadBudget::Part oldest(budget, count, &refused), older(budget, count, &refused), asking(budget, count, &refused);
    EXPECT_TRUE(oldest.resize(40));
    EXPECT_TRUE(older.resize(40));
    EXPECT_TRUE(asking.resize(40));
    EXPECT_TRUE(oldest.refused());
    EXPECT_FALSE(older.refused());
}

TEST(HeadBudget, what_a_head_took_is_given_back) {
    HeadBudget budget;
    {
        HeadBudget::Part part(budget, nullptr, nullptr);
        part.resize(10);
        part.resize(30);
        EXPECT_EQ(budget.used(), 30u);
    }
    EXPECT_EQ(budget.used(), 0u);
}

}   // namespace
}   // namespace garner::proxy
