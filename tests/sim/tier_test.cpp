// A simulated tier: its budget and its content.
#include "sim/tier.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include "policy/policies.hpp"
#include "sim/typed_policy.hpp"

namespace garner::sim {
namespace {

class EveryTier : public testing::TestWithParam<std::string> {};

std::vector<std::string> every_policy() {
    std::vector<std::string> names;
    for (auto const& row : policy::all()) names.emplace_back(row.name);
    return names;
}

INSTANTIATE_TEST_SUITE_P(Policies, EveryTier, testing::ValuesIn(every_policy()), [](auto const& name) { return name.param; });

TEST_P(EveryTier, hits_only_what_it_was_given_and_never_exceeds_its_budget) {
    constexpr Bytes budget = 300'000;
    Tier tier(policy::make(GetParam(), {.capacity = budget}), budget);
    std::mt19937_64 random(4);
    std::map<std::uint32_t, bool> given;
    int hits = 0;
    for (int step = 0; step < 60'000; ++step) {
        auto key = static_cast<std::uint32_t>(std::min(random() % 1'000, random() % 1'000));
        Bytes size = 1 + key * 7919 % (key % 50 ? 5'000 : 400'000);
        bool hit = tier.request(key, size);
        hits += hit;
        EXPECT_TRUE(!hit || given[key]);
        EXPECT_FALSE(hit && size > budget);
        given[key] = true;
        ASSERT_LE(tier.occupied(), budget);
    }
    EXPECT_GT(hits, 1'000);
    EXPECT_GE(tier.objects_most(), tier.objects());
}

TEST_P(EveryTier, gives_the_same_results_by_the_class_of_its_policy) {
    constexpr Bytes budget = 300'000;
    Tier tier(policy::make(GetParam(), {.capacity = budget}), budget),
        typed(policy::make(GetParam(), {.capacity = budget}), budget);
    std::mt19937_64 random(5);
    with_own_class(typed.policy(), [&](auto& policy) {
        for (int step = 0; step < 30'000; ++step) {
            auto key = static_cast<std::uint32_t>(std::min(random() % 2'000, random() % 2'000));
            Bytes size = 1 + key * 7919 % 5'000;
            ASSERT_EQ(typed.request(policy, key, Tier::hash_of(key), size), tier.request(key, size)) << step;
        }
    });
    EXPECT_EQ(typed.occupied(), tier.occupied());
}

TEST(Tier, what_is_too_large_evicts_nothing) {
    Tier tier(policy::make("lru", {}), 1'000, 600);
    tier.request(1, 600);
    tier.request(2, 400);
    EXPECT_FALSE(tier.request(3, 601));
    EXPECT_FALSE(tier.request(3, 601));
    EXPECT_TRUE(tier.request(1, 600));
    EXPECT_TRUE(tier.request(2, 400));
    EXPECT_EQ(tier.occupied(), 1'000u);
}

TEST(Tier, a_key_keeps_its_first_size_until_it_has_left) {
    Tier tier(policy::make("lru", {}), 1'000);
    tier.request(1, 300);
    EXPECT_TRUE(tier.request(1, 900));
    EXPECT_EQ(tier.occupied(), 300u);
    tier.request(2, 1'000);
    tier.request(1, 900);
    EXPECT_EQ(tier.occupied(), 900u);
}

TEST(Tier, holds_objects_of_more_than_four_gigabytes) {
    Tier tier(policy::make("gdsf", {}), 20 * GiB);
    tier.request(1, 5 * GiB);
    tier.request(2, 4 * GiB - 1);
    EXPECT_EQ(tier.occupied(), 9 * GiB - 1);
    tier.request(3, 15 * GiB);
    EXPECT_LE(tier.occupied(), 20 * GiB);
    EXPECT_TRUE(tier.request(3, 15 * GiB));
    tier.request(4, 20 * GiB);
    EXPECT_EQ(tier.occupied(), 20 * GiB);
    EXPECT_EQ(tier.objects(), 1u);
}

}   // namespace
}   // namespace garner::sim
