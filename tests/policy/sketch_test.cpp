#include "policy/sketch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace garner::policy {
namespace {

TEST(Sketch, counts_to_fifteen) {
    Sketch sketch;
    sketch.cover(1000);
    auto tag = Sketch::tag(42);
    for (std::uint32_t i = 1; i <= 40; ++i) {
        sketch.add(tag);
        EXPECT_EQ(sketch.estimate(tag), std::min(i, 15u));
    }
    EXPECT_EQ(sketch.estimate(Sketch::tag(43)), 0u);
}

TEST(Sketch, is_never_too_low_and_seldom_too_high) {
    constexpr std::uint32_t objects = 10'000;
    Sketch sketch({.counters = 16, .sample = 1000});
    sketch.cover(objects);
    std::mt19937_64 random(7);
    std::map<std::uint64_t, std::uint32_t> counts;
    for (std::uint32_t i = 0; i < 8 * objects; ++i) {
        auto key = random() % objects * (random() % objects) / objects;   // skewed popularity
        ++counts[key];
        sketch.add(Sketch::tag(key));
    }
    std::uint32_t too_high = 0;
    for (auto [key, count] : counts) {
        auto estimate = sketch.estimate(Sketch::tag(key));
        ASSERT_GE(estimate, std::min(count, 15u));
        too_high += estimate > std::min(count, 15u);
    }
    EXPECT_LT(too_high, counts.size() / 20);
    std::uint32_t seen_of_unseen = 0;
    for (std::uint64_t key = objects; key < 2 * objects; ++key) seen_of_unseen += sketch.estimate(Sketch::tag(key)) > 1;
    EXPECT_LT(seen_of_unseen, objects / 20);
}

TEST(Sketch, halves_when_the_sample_is_full) {
    Sketch sketch({.counters = 16, .sample = 10});
    sketch.cover(10);
    auto often = Sketch::tag(1), seldom = Sketch::tag(2);
    for (int i = 0; i < 9; ++i) sketch.add(often);
    sketch.add(seldom);
    for (int i = 0; i < 89; ++i) sketch.add(Sketch::tag(3));
    EXPECT_EQ(sketch.estimate(often), 9u);
    sketch.add(Sketch::tag(3));   // the hundredth addition
    EXPECT_EQ(sketch.estimate(often), 4u);
    EXPECT_EQ(sketch.estimate(seldom), 0u);
    EXPECT_EQ(sketch.estimate(Sketch::tag(3)), 7u);
    for (int i = 0; i < 50; ++i) sketch.add(often);   // half of the hundred remain
    EXPECT_EQ(sketch.estimate(often), 7u);
}

TEST(Sketch, keeps_every_estimate_when_it_grows) {
    Sketch sketch({.counters = 8, .sample = 1000});
    sketch.cover(100);
    for (std::uint64_t key = 0; key < 100; ++key)
        for (std::uint64_t i = 0; i < key % 10; ++i) sketch.add(Sketch::tag(key));
    std::vector<std::uint32_t> before;
    for (std::uint64_t key = 0; key < 200; ++key) before.push_back(sketch.estimate(Sketch::tag(key)));
    sketch.cover(100'000);
    for (std::uint64_t key = 0; key < 200; ++key) EXPECT_EQ(sketch.estimate(Sketch::tag(key)), before[key]);
    sketch.cover(10);   // the sketch never shrinks
    EXPECT_EQ(sketch.estimate(Sketch::tag(9)), before[9]);
}

TEST(Sketch, takes_no_more_than_twice_what_was_asked_for) {
    for (std::uint64_t objects : {1'000u, 65'536u, 100'000u}) {
        Sketch sketch({.counters = 8, .sample = 10});
        for (std::uint64_t held = 1; held <= objects; ++held) sketch.cover(held);
        EXPECT_GE(sketch.metadata_bytes(), objects * 8 / 2);
        EXPECT_LT(sketch.metadata_bytes(), objects * 8 + 1024);
    }
}

}   // namespace
}   // namespace garner::policy
