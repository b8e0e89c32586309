#include "policy/gdsf.hpp"

#include "policy/naive.hpp"

namespace garner::policy {
namespace {

struct AgePlusHitsPerByte {
    double operator()(double age, std::uint64_t hits, Bytes size) const {
        return age + static_cast<double>(hits) * 1e6 / static_cast<double>(size);
    }
};

TEST(Gdsf, evicts_as_its_definition_says) {
    for (std::uint64_t seed : {1, 2, 3}) {
        Gdsf gdsf({});
        expect_the_naive_victims<AgePlusHitsPerByte>(gdsf, seed);
    }
}

TEST(Gdsf, large_leaves_before_small_and_seldom_before_often) {
    Gdsf gdsf({});
    gdsf.inserted(0, 0, 100);
    gdsf.inserted(1, 1, 1000);
    EXPECT_EQ(gdsf.victim(), 1u);
    for (int i = 0; i < 10; ++i) gdsf.hit(1, 1000);   // 11/1000 against 1/100
    EXPECT_EQ(gdsf.victim(), 0u);
}

TEST(Gdsf, among_equals_the_least_recently_used_leaves) {
    Gdsf gdsf({});
    for (Slot slot = 0; slot < 4; ++slot) gdsf.inserted(slot, slot, 500);
    for (Slot slot : {0u, 2u, 1u, 3u}) gdsf.hit(slot, 500);
    for (Slot expected : {0u, 2u, 1u, 3u}) {
        EXPECT_EQ(gdsf.victim(), expected);
        gdsf.removed(expected, Left::purged);
    }
}

TEST(Gdsf, ages_when_a_victim_has_left_and_not_when_it_is_named_or_purged) {
    Gdsf gdsf({});
    gdsf.inserted(0, 0, 1000);   // 1000
    gdsf.inserted(1, 1, 500);    // 2000
    EXPECT_EQ(gdsf.victim(), 0u);
    gdsf.inserted(2, 2, 800);   // 1250 if L is still 0
    EXPECT_EQ(gdsf.victim(), 0u);
    gdsf.removed(0, Left::evicted);
    EXPECT_EQ(gdsf.victim(), 2u);
    gdsf.inserted(3, 3, 900);   // 1000 + 1111 now that L is 1000
    gdsf.removed(2, Left::purged);
    EXPECT_EQ(gdsf.victim(), 1u);
    gdsf.inserted(4, 4, 1001);   // 1000 + 999: the purge did not change L
    EXPECT_EQ(gdsf.victim(), 4u);
}

TEST(Gdsf, takes_sizes_beyond_four_gigabytes_and_none) {
    Gdsf gdsf({});
    gdsf.inserted(0, 0, 5 * GiB);
    gdsf.inserted(1, 1, 6 * GiB);
    gdsf.inserted(2, 2, 0);
    gdsf.inserted(3, 3, UINT64_MAX);
    for (Slot expected : {3u, 1u, 0u, 2u}) {
        EXPECT_EQ(gdsf.victim(), expected);
        gdsf.removed(expected, Left::evicted);
    }
}

TEST(Gdsf, keeps_what_is_worth_more_than_the_last_victim) {
    Gdsf gdsf({});
    gdsf.inserted(0, 0, 1000);
    gdsf.inserted(1, 1, 500);
    gdsf.removed(0, Left::evicted);
    EXPECT_FALSE(gdsf.keeps(0));
    EXPECT_TRUE(gdsf.keeps(1));
}

TEST(Gdsf, needs_24_bytes_a_slot) {
    Gdsf gdsf({});
    for (Slot slot = 0; slot < 100'000; ++slot) gdsf.inserted(slot, slot, 1);
    EXPECT_LT(gdsf.metadata_bytes(), 100'000 * 25);
}

}   // namespace
}   // namespace garner::policy
