#include "policy/garner.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "policy/lru.hpp"
#include "policy/replay.hpp"

namespace garner::policy {
namespace {

constexpr Bytes capacity = 1 * MiB;

/// Object and byte miss ratio of requests from `next()`, which returns keys and sizes.
template <class Next>
std::pair<double, double> misses(ReplacementPolicy& policy, int requests, Next next) {
    Replay cache(policy, capacity);
    for (int i = 0; i < requests; ++i) {
        auto [key, size] = next(i);
        cache.request(key * 0x9e37'79b9'7f4a'7c15, size);
    }
    return {cache.miss_ratio(), cache.byte_miss_ratio()};
}

struct Request {
    std::uint64_t key;
    Bytes size;
};

/// Each object is requested a few times soon after its first request and never again: LRU is optimal.
auto news(std::uint64_t seed) {
    return [random = std::mt19937_64(seed)](int i) mutable {
        auto back = static_cast<std::uint64_t>(8 / std::sqrt(1e-6 + static_cast<double>(random() >> 11) * 0x1p-53));
        auto key = 1'000'000 + static_cast<std::uint64_t>(i) / 4 - back;
        return Request{key, 1000 + key * 7919 % 40'000};
    };
}

/// 2,000 objects of all sizes with skewed popularity.
auto library(std::uint64_t seed) {
    return [random = std::mt19937_64(seed)](int) mutable {
        auto share = static_cast<double>(random() >> 11) * 0x1p-53;
        auto key = static_cast<std::uint64_t>(2000 * share * share * share);
        return Request{key, Bytes{100} << key * 7919 % 11};
    };
}

/// True when recency has more weight than the aim.
bool gives_way(Garner const& policy) { return policy.rule().recency || policy.rule().recency_weight > 2; }

TEST(Garner, admits_by_what_was_asked_for_before_it_came) {
    Garner policy({.capacity = capacity});
    policy.requested(1);
    policy.requested(1);
    policy.inserted(0, 1, 1000);
    policy.requested(2);
    EXPECT_FALSE(policy.admits(2, 1000, 500));
    policy.requested(2);
    policy.requested(2);
    EXPECT_TRUE(policy.admits(2, 1000, 500));
}

TEST(Garner, remembers_how_often_an_evicted_one_was_asked_for) {
    Garner policy({});
    for (int i = 0; i < 6; ++i) policy.requested(7);
    policy.inserted(0, 7, 1000);
    policy.removed(0, Left::evicted);
    policy.requested(7);
    policy.inserted(0, 7, 1000);
    policy.requested(8);
    policy.inserted(1, 8, 1000);
    EXPECT_EQ(policy.victim(), 1u);
}

TEST(Garner, misses_fewer_objects_and_by_the_other_aim_fewer_bytes) {
    Lru lru({});
    Garner objects({.capacity = capacity}), bytes({.capacity = capacity, .values = {1}});
    auto base = misses(lru, 100'000, library(3));
    auto by_objects = misses(objects, 100'000, library(3)), by_bytes = misses(bytes, 100'000, library(3));
    EXPECT_LT(by_objects.first, 0.8 * base.first);
    EXPECT_LT(by_objects.second, base.second);
    EXPECT_LT(by_objects.first, by_bytes.first);
    EXPECT_LT(by_bytes.second, by_objects.second);
}

TEST(Garner, gives_weight_to_recency_while_LRU_is_better_and_only_so_long) {
    Garner policy({.capacity = capacity, .values = {1}});
    Lru lru({});
    auto base = misses(lru, 200'000, news(5)), own = misses(policy, 200'000, news(5));
    EXPECT_LT(own.second, 1.03 * base.second);
    EXPECT_TRUE(gives_way(policy));
    while (policy.victim() != no_slot) policy.removed(policy.victim(), Left::purged);
    misses(policy, 200'000, library(6));
    EXPECT_FALSE(gives_way(policy));
}

TEST(Garner, never_leaves_its_order_for_traffic_that_suits_it) {
    Garner policy({.capacity = capacity});
    for (std::uint64_t seed = 1; seed < 4; ++seed) {
        misses(policy, 50'000, [&, next = library(seed)](int i) mutable {
            EXPECT_FALSE(policy.rule().recency);
            return next(i);
        });
        while (policy.victim() != no_slot) policy.removed(policy.victim(), Left::purged);
    }
}

TEST(Garner, goes_on_when_its_capacity_changes) {
    Garner policy({.capacity = capacity});
    misses(policy, 20'000, library(1));
    policy.set_capacity(capacity / 8);
    policy.set_capacity(0);
    policy.set_capacity(8 * capacity);
    while (policy.victim() != no_slot) policy.removed(policy.victim(), Left::purged);
    EXPECT_LT(misses(policy, 50'000, library(1)).first, 0.55);
}

TEST(Garner, needs_at_most_20_bytes_a_slot_and_little_to_begin_with) {
    Garner policy({.capacity = 1 * GiB});
    auto empty = policy.metadata_bytes();
    EXPECT_LT(empty, 14 * KiB);
    for (Slot slot = 0; slot < 100'000; ++slot) {
        policy.requested(slot);
        policy.inserted(slot, slot, 10'000);
    }
    EXPECT_LT(policy.metadata_bytes() - empty, 20 * 100'000);
}

}   // namespace
}   // namespace garner::policy
