// Invariants of every registered policy.
#include "policy/policies.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include "policy/replay.hpp"

namespace garner::policy {
namespace {

class EveryPolicy : public testing::TestWithParam<Row> {
protected:
    std::unique_ptr<ReplacementPolicy> policy(std::uint64_t seed = 1) const {
        return GetParam().make({.capacity = 1 * MiB, .seed = seed});
    }
};

INSTANTIATE_TEST_SUITE_P(Policies, EveryPolicy, testing::ValuesIn(all().begin(), all().end()), [](auto const& row) {
    std::string name(row.param.name);
    std::erase_if(name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); });
    return name;
});

/// Inserts, hits, resizes, removes and evicts at random; returns the objects that must be held afterwards.
std::map<Slot, Bytes> live_a_life(ReplacementPolicy& policy, std::uint32_t steps, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::map<Slot, Bytes> held;
    for (std::uint32_t step = 0; step < steps; ++step) {
        auto slot = static_cast<Slot>(random() % 700);
        policy.requested(slot);
        if (Bytes size = 1 + random() % 5000; held.emplace(slot, size).second) {
            policy.inserted(slot, slot, size);
            continue;
        }
        switch (random() % 8) {
        case 0: policy.resized(slot, held[slot] = 1 + random() % 5000); break;
        case 1: policy.removed(slot, Left::replaced), held.erase(slot); break;
        case 2: policy.removed(slot, Left::purged), held.erase(slot); break;
        case 3: {
            Slot victim = policy.victim();
            EXPECT_EQ(held.erase(victim), 1u) << "a victim that is not held";
            policy.removed(victim, Left::evicted);
            break;
        }
        default: policy.hit(slot, held[slot]);
        }
    }
    return held;
}

TEST_P(EveryPolicy, has_no_victim_when_empty) {
    auto policy = this->policy();
    EXPECT_EQ(policy->victim(), no_slot);
    EXPECT_FALSE(policy->keeps(0));
}

TEST_P(EveryPolicy, names_a_held_slot_until_it_is_removed) {
    auto policy = this->policy();
    for (Slot slot : {4u, 0u, 9u}) policy->inserted(slot, slot, 100);
    Slot victim = policy->victim();
    EXPECT_TRUE(victim == 4 || victim == 0 || victim == 9);
    EXPECT_EQ(policy->victim(), victim);
    policy->removed(victim, Left::evicted);
    EXPECT_NE(policy->victim(), victim);
}

TEST_P(EveryPolicy, forgets_what_was_removed) {
    for (Left why : {Left::evicted, Left::replaced, Left::purged}) {
        auto policy = this->policy();
        policy->inserted(0, 10, 100);
        policy->inserted(1, 11, 100);
        for (int i = 0; i < 5; ++i) policy->hit(0, 100);
        policy->removed(1, why);
        EXPECT_FALSE(policy->keeps(1));
        EXPECT_EQ(policy->victim(), 0u);
        policy->removed(0, why);
        EXPECT_EQ(policy->victim(), no_slot);
        policy->inserted(1, 12, 50);   // the slot is reused
        EXPECT_EQ(policy->victim(), 1u);
    }
}

TEST_P(EveryPolicy, drains_to_empty_after_any_life) {
    auto policy = this->policy();
    auto held = live_a_life(*policy, 20'000, 5);
    while (!held.empty()) {
        Slot victim = policy->victim();
        ASSERT_EQ(held.erase(victim), 1u);
        policy->removed(victim, Left::evicted);
    }
    EXPECT_EQ(policy->victim(), no_slot);
}

TEST_P(EveryPolicy, does_the_same_for_the_same_seed) {
    auto drained = [](ReplacementPolicy& policy) {
        std::vector<Slot> order;
        live_a_life(policy, 5'000, 17);
        for (Slot victim; (victim = policy.victim()) != no_slot; policy.removed(victim, Left::evicted)) order.push_back(victim);
        return order;
    };
    auto one = policy(42), other = policy(42);
    EXPECT_EQ(drained(*one), drained(*other));
}

TEST_P(EveryPolicy, stays_within_the_budget) {
    constexpr Bytes budget = 64 * KiB;
    auto policy = GetParam().make({.capacity = budget});
    Replay cache(*policy, budget);
    std::mt19937_64 random(3);
    for (int i = 0; i < 50'000; ++i) {
        auto key = std::min(random() % 2000, random() % 2000);
        cache.request(key, 1 + key * 7919 % (i % 100 == 0 ? 2 * budget : 4 * KiB));
        ASSERT_LE(cache.occupied(), budget);
    }
    EXPECT_LT(cache.miss_ratio(), 1.0);
    EXPECT_GT(cache.evicted.size(), 0u);
}

TEST_P(EveryPolicy, misses_hardly_more_where_it_is_lean) {
    constexpr Bytes budget = 256 * KiB;
    double ratios[2];
    Bytes bytes[2];
    for (bool lean : {false, true}) {
        auto policy = GetParam().make({.capacity = budget, .lean = lean});
        Replay cache(*policy, budget);
        std::mt19937_64 random(5);
        for (int i = 0; i < 50'000; ++i) {
            auto key = std::min(random() % 2000, random() % 2000);
            cache.request(key, 1 + key * 7919 % (4 * KiB));
        }
        ratios[lean] = cache.miss_ratio();
        bytes[lean] = policy->metadata_bytes();
    }
    EXPECT_NEAR(ratios[true], ratios[false], 0.01);
    EXPECT_LE(bytes[true], bytes[false]);
}

TEST_P(EveryPolicy, counts_its_memory_and_needs_little_of_it) {
    auto policy = this->policy();
    auto empty = policy->metadata_bytes();
    for (Slot slot = 0; slot < 10'000; ++slot) policy->inserted(slot, slot, 1000);
    auto full = policy->metadata_bytes();
    EXPECT_GT(full, empty);
    EXPECT_LT(full - empty, 40 * 10'000);
}

TEST(Policies, are_made_by_name_and_say_what_is_wrong) {
    EXPECT_NE(make("lru", {}), nullptr);
    EXPECT_NE(make("gdsf", {}), nullptr);
    EXPECT_EQ(make("LRU", {}), nullptr);
    EXPECT_EQ(make("", {}), nullptr);
    EXPECT_NE(read_spec("lruu").fault_text().find("no policy \"lruu\"; valid policies: lru, "), std::string::npos);
    EXPECT_EQ(read_spec("lru:x=1").fault_text(), "lru: no setting \"x\"; this policy has no settings");
}

}   // namespace
}   // namespace garner::policy
