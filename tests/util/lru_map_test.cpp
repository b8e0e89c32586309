#include "util/lru_map.hpp"

#include <gtest/gtest.h>

namespace garner {
namespace {

constexpr std::size_t most = 3;

TEST(LruMap, evicts_the_least_recently_used) {
    LruMap<int> map;
    int value = 0;
    for (auto key : {"a", "b", "c"}) map.get(key, most) = ++value;
    EXPECT_EQ(*map.use("a"), 1);
    EXPECT_EQ(map.get("d", most), 0) << "a new value is value-initialised";
    EXPECT_EQ(map.size(), most);
    EXPECT_FALSE(map.find("b"));
    EXPECT_TRUE(map.find("a"));
    EXPECT_TRUE(map.find("c"));
}

TEST(LruMap, finding_is_no_use_and_getting_is_one) {
    LruMap<int> map;
    for (auto key : {"a", "b", "c"}) map.get(key, most);
    map.find("a");
    map.get("b", most) = 7;
    map.get("d", most);
    EXPECT_FALSE(map.find("a"));
    EXPECT_EQ(*map.find("b"), 7);
}

TEST(LruMap, an_erased_value_is_gone_and_makes_room) {
    LruMap<int> map;
    for (auto key : {"a", "b", "c"}) map.get(key, most) = 1;
    map.erase("b");
    map.erase("never there");
    map.get("d", most);
    EXPECT_EQ(map.size(), most);
    EXPECT_FALSE(map.use("b"));
    EXPECT_TRUE(map.find("a"));
}

TEST(LruMap, erases_the_oldest_that_may_go_and_counts_those_before_it_as_used) {
    LruMap<int> map;
    int value = 0;
    for (auto key : {"a", "b", "c"}) map.get(key, most) = ++value;
    auto const is_even = [](int one) { return one % 2 == 0; };
    EXPECT_FALSE(map.erase_oldest_if(is_even, 1)) << "a is odd, and now used last";
    EXPECT_TRUE(map.erase_oldest_if(is_even, 1));
    EXPECT_FALSE(map.find("b"));
    EXPECT_FALSE(map.erase_oldest_if(is_even, 8));
    map.erase_oldest();
    EXPECT_EQ(map.size(), 1u);
    map.clear();
    EXPECT_FALSE(map.erase_oldest_if(is_even, 8));
}

TEST(LruMap, has_room_for_one_at_least) {
    LruMap<int> map;
    map.get("a", 0) = 1;
    map.get("b", 0) = 2;
    EXPECT_EQ(map.size(), 1u);
    EXPECT_EQ(*map.find("b"), 2);
}

TEST(LruMap, erases_the_oldest_on_request) {
    LruMap<int> map;
    for (auto key : {"a", "b", "c"}) map.get(key, most);
    map.use("a");
    map.erase_oldest();
    EXPECT_EQ(map.size(), most - 1);
    EXPECT_FALSE(map.find("b"));
}

}   // namespace
}   // namespace garner
