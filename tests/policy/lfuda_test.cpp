#include "policy/lfuda.hpp"

#include "policy/naive.hpp"

namespace garner::policy {
namespace {

struct AgePlusHits {
    double operator()(double age, std::uint64_t hits, Bytes) const { return age + static_cast<double>(hits); }
};

/// A new size does not change the key.
struct NaiveLfuda : Naive<AgePlusHits> {
    void resized(Slot, Bytes) {}
};

TEST(Lfuda, evicts_as_its_definition_says) {
    for (std::uint64_t seed : {1, 2, 3}) {
        NaiveLfuda naive;
        Lfuda lfuda({});
        expect_the_victims_of(naive, lfuda, seed);
    }
}

TEST(Lfuda, evicts_as_its_definition_says_where_keys_lie_far_apart) {
    std::mt19937_64 random(4);
    Lfuda lfuda({});
    Naive<AgePlusHits> naive;
    for (int step = 0; step < 20'000; ++step) {
        auto slot = static_cast<Slot>(random() % 60);
        if (!naive.holds(slot)) {
            lfuda.inserted(slot, slot, 1), naive.inserted(slot, 1);
        } else if (step % 3 == 0) {
            Slot victim = lfuda.victim();
            ASSERT_EQ(victim, naive.victim()) << "at step " << step;
            lfuda.removed(victim, Left::evicted), naive.removed(victim, Left::evicted);
        } else {
            auto times = slot % 10 == 0 ? random() % 300 : 1;
            for (auto i = times; i > 0; --i) lfuda.hit(slot, 1), naive.hit(slot);
        }
    }
}

TEST(Lfuda, forgets_what_was_used_often_long_ago) {
    Lfuda lfuda({});
    lfuda.inserted(0, 0, 1);
    for (int i = 0; i < 100; ++i) lfuda.hit(0, 1);
    Slot victim = 1;
    for (int times = 0; victim != 0; ++times) {
        lfuda.inserted(1, 1, 1);
        victim = lfuda.victim();
        lfuda.removed(victim, Left::evicted);
        ASSERT_LE(times, 101);
        if (victim == 0) EXPECT_EQ(times, 100);   // 101 and 101: the less recent use is evicted
    }
}

TEST(Lfuda, ages_when_a_victim_has_left_and_not_when_it_is_named_or_purged) {
    Lfuda lfuda({});
    for (Slot slot : {0u, 1u}) lfuda.inserted(slot, slot, 1);
    for (int i = 0; i < 4; ++i) lfuda.hit(0, 1), lfuda.hit(1, 1);   // 5 each
    EXPECT_EQ(lfuda.victim(), 0u);
    lfuda.inserted(2, 2, 1);   // 1: L is still 0
    EXPECT_EQ(lfuda.victim(), 2u);
    lfuda.removed(2, Left::purged);
    lfuda.removed(0, Left::evicted);
    lfuda.inserted(2, 2, 1);   // 6 now that L is 5
    EXPECT_EQ(lfuda.victim(), 1u);
    lfuda.removed(1, Left::purged);
    EXPECT_EQ(lfuda.victim(), 2u);
}

TEST(Lfuda, goes_on_when_one_leaves_out_of_turn) {
    Lfuda lfuda({});
    for (Slot slot : {0u, 1u, 2u}) lfuda.inserted(slot, slot, 1);
    for (int i = 0; i < 9; ++i) lfuda.hit(2, 1);
    lfuda.hit(1, 1);
    lfuda.removed(2, Left::evicted);   // L is 10, the others are below
    lfuda.inserted(3, 3, 1);
    for (Slot expected : {0u, 1u, 3u}) {
        EXPECT_EQ(lfuda.victim(), expected);
        lfuda.removed(expected, Left::evicted);
    }
    lfuda.inserted(4, 4, 1);
    EXPECT_EQ(lfuda.victim(), 4u);
}

TEST(Lfuda, keeps_what_is_worth_more_than_the_last_victim) {
    Lfuda lfuda({});
    for (Slot slot : {0u, 1u, 2u}) lfuda.inserted(slot, slot, 1);
    lfuda.hit(2, 1);
    lfuda.removed(0, Left::evicted);
    EXPECT_FALSE(lfuda.keeps(0));
    EXPECT_FALSE(lfuda.keeps(1));
    EXPECT_TRUE(lfuda.keeps(2));
}

TEST(Lfuda, needs_20_bytes_a_slot) {
    Lfuda lfuda({});
    for (Slot slot = 0; slot < 100'000; ++slot) lfuda.inserted(slot, slot, 1);
    EXPECT_LT(lfuda.metadata_bytes(), 100'000 * 21);
}

TEST(LfudaDeathTest, stops_at_a_slot_that_is_not_held) {
    Lfuda lfuda({});
    EXPECT_DEATH(lfuda.hit(0, 1), "broken invariant");
    EXPECT_DEATH(lfuda.removed(100'000, Left::purged), "broken invariant");
}

}   // namespace
}   // namespace garner::policy
