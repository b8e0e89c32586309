#include "sim/key_numbers.hpp"

#include <gtest/gtest.h>

#include <unordered_map>

#include "sim/record.hpp"

namespace garner::sim {
namespace {

TEST(KeyNumbers, count_up_as_keys_first_appear) {
    KeyNumbers numbers;
    EXPECT_EQ(numbers.find(7), KeyNumbers::none);
    EXPECT_EQ(numbers.number(7), 0u);
    EXPECT_EQ(numbers.number(UINT64_MAX), 1u);
    EXPECT_EQ(numbers.number(0), 2u);
    EXPECT_EQ(numbers.number(7), 0u);
    EXPECT_EQ(numbers.find(0), 2u);
    EXPECT_EQ(numbers.size(), 3u);
}

TEST(KeyNumbers, agree_with_a_map_while_they_grow) {
    KeyNumbers numbers;
    std::unordered_map<std::uint64_t, std::uint32_t> model;
    for (std::uint64_t i = 0; i < 100'000; ++i) {
        auto hash = key_of(key_of(i) % 30'000);
        auto number = model.try_emplace(hash, static_cast<std::uint32_t>(model.size())).first->second;
        ASSERT_EQ(numbers.number(hash), number);
    }
    for (auto [hash, number] : model) ASSERT_EQ(numbers.find(hash), number);
}

TEST(KeyNumbers, hashes_of_one_place_get_numbers_of_their_own) {
    KeyNumbers numbers;
    for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(numbers.number(i << 40), i);
    for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(numbers.find(i << 40), i);
}

TEST(KeyNumbers, end_where_they_must) {
    KeyNumbers numbers(3);
    for (std::uint64_t hash : {10, 20, 30}) EXPECT_NE(numbers.number(hash), KeyNumbers::none);
    EXPECT_EQ(numbers.number(40), KeyNumbers::none);
    EXPECT_EQ(numbers.number(20), 1u);
    EXPECT_EQ(numbers.find(40), KeyNumbers::none);
    EXPECT_EQ(numbers.size(), 3u);
}

}  // namespace
}  // namespace garner::sim
