#include "policy/random.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace garner::policy {
namespace {

TEST(Random, chooses_each_as_often_as_another) {
    constexpr Slot slots = 10;
    constexpr int rounds = 100'000;
    Random random({.seed = 3});
    for (Slot slot = 0; slot < slots; ++slot) random.inserted(slot, slot, 1);
    std::vector<int> times(slots);
    for (int i = 0; i < rounds; ++i) {
        Slot victim = random.victim();
        ++times[victim];
        random.removed(victim, Left::evicted);
        random.inserted(victim, victim, 1);
    }
    for (int each : times) EXPECT_NEAR(each, rounds / slots, 500);   // five standard deviations
}

TEST(Random, stands_by_its_choice_whatever_else_comes_and_goes) {
    Random random({});
    for (Slot slot = 0; slot < 100; ++slot) random.inserted(slot, slot, 1);
    Slot victim = random.victim();
    for (Slot slot = 0; slot < 100; ++slot)
        if (slot != victim) random.removed(slot, Left::purged);
    random.inserted(200, 200, 1);
    EXPECT_EQ(random.victim(), victim);
    random.removed(victim, Left::purged);
    EXPECT_EQ(random.victim(), 200u);
}

TEST(Random, another_seed_is_another_order) {
    auto order = [](std::uint64_t seed) {
        Random random({.seed = seed});
        for (Slot slot = 0; slot < 100; ++slot) random.inserted(slot, slot, 1);
        std::vector<Slot> left;
        for (Slot victim; (victim = random.victim()) != no_slot; random.removed(victim, Left::evicted)) left.push_back(victim);
        return left;
    };
    EXPECT_EQ(order(0).size(), 100u);
    EXPECT_EQ(order(0), order(0));
    EXPECT_NE(order(0), order(1));
}

TEST(Random, needs_eight_bytes_a_slot) {
    Random random({});
    for (Slot slot = 0; slot < 100'000; ++slot) random.inserted(slot, slot, 1);
    EXPECT_LT(random.metadata_bytes(), 100'000 * 8.6);
}

TEST(RandomDeathTest, stops_at_a_slot_that_is_not_held) {
    Random random({});
    EXPECT_DEATH(random.hit(0, 1), "broken invariant");
    EXPECT_DEATH(random.removed(100'000, Left::purged), "broken invariant");
}

}   // namespace
}   // namespace garner::policy
