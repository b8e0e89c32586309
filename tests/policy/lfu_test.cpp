#include "policy/lfu.hpp"

#include "policy/naive.hpp"

namespace garner::policy {
namespace {

struct Hits {
    double operator()(double, std::uint64_t hits, Bytes) const { return static_cast<double>(hits); }
};

TEST(Lfu, evicts_as_its_definition_says) {
    for (std::uint64_t seed : {1, 2, 3}) {
        Lfu lfu({});
        expect_the_naive_victims<Hits>(lfu, seed);
    }
}

TEST(Lfu, seldom_leaves_before_often_and_among_equals_the_least_recently_used) {
    Lfu lfu({});
    for (Slot slot = 0; slot < 4; ++slot) lfu.inserted(slot, slot, 1);
    for (Slot slot : {3u, 0u, 2u, 0u}) lfu.hit(slot, 1);
    for (Slot expected : {1u, 3u, 2u, 0u}) {
        EXPECT_EQ(lfu.victim(), expected);
        lfu.removed(expected, Left::evicted);
    }
}

TEST(Lfu, begins_again_with_what_comes_again) {
    Lfu lfu({});
    lfu.inserted(0, 0, 1);
    lfu.hit(0, 1);
    lfu.removed(0, Left::replaced);
    lfu.inserted(1, 1, 1);
    lfu.inserted(0, 0, 1);
    lfu.hit(1, 1);
    EXPECT_EQ(lfu.victim(), 0u);
}

TEST(Lfu, keeps_what_was_used_since_it_came) {
    Lfu lfu({});
    lfu.inserted(0, 0, 1);
    EXPECT_FALSE(lfu.keeps(0));
    lfu.hit(0, 1);
    EXPECT_TRUE(lfu.keeps(0));
}

TEST(Lfu, needs_12_bytes_a_slot_however_often_the_hits) {
    Lfu lfu({});
    for (Slot slot = 0; slot < 100'000; ++slot) lfu.inserted(slot, slot, 1);
    for (int i = 0; i < 1'000'000; ++i) lfu.hit(7, 1);
    for (Slot slot = 0; slot < 100'000; ++slot) lfu.hit(slot, 1);
    EXPECT_LT(lfu.metadata_bytes(), 100'000 * 12.5);
}

TEST(LfuDeathTest, stops_at_a_slot_that_is_not_held) {
    Lfu lfu({});
    EXPECT_DEATH(lfu.hit(0, 1), "broken invariant");
    EXPECT_DEATH(lfu.removed(100'000, Left::purged), "broken invariant");
    lfu.inserted(0, 0, 1);
    EXPECT_DEATH(lfu.inserted(0, 0, 1), "broken invariant");
}

}   // namespace
}   // namespace garner::policy
