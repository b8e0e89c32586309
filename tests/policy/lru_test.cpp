#include "policy/lru.hpp"

#include "policy/naive.hpp"

namespace garner::policy {
namespace {

struct AllAlike {
    double operator()(double, std::uint64_t, Bytes) const { return 0; }
};

TEST(Lru, evicts_as_its_definition_says) {
    for (std::uint64_t seed : {1, 2}) {
        Lru lru({});
        expect_the_naive_victims<AllAlike>(lru, seed);
    }
}

TEST(Lru, a_hit_moves_to_the_end_and_a_new_size_does_not) {
    Lru lru({});
    for (Slot slot = 0; slot < 3; ++slot) lru.inserted(slot, slot, 1);
    lru.resized(0, 5);
    EXPECT_EQ(lru.victim(), 0u);
    lru.hit(0, 1);
    EXPECT_EQ(lru.victim(), 1u);
    lru.hit(0, 1);
    EXPECT_EQ(lru.victim(), 1u);
}

TEST(Lru, needs_eight_bytes_a_slot) {
    Lru lru({});
    for (Slot slot = 0; slot < 100'000; ++slot) lru.inserted(slot, slot, 1);
    EXPECT_LT(lru.metadata_bytes(), 100'000 * 8.3);
}

TEST(LruDeathTest, stops_at_a_slot_that_is_not_held) {
    Lru lru({});
    EXPECT_DEATH(lru.hit(0, 1), "broken invariant");
    lru.inserted(0, 0, 1);
    EXPECT_DEATH(lru.inserted(0, 0, 1), "broken invariant");
    EXPECT_DEATH(lru.removed(100'000, Left::purged), "broken invariant");
}

}   // namespace
}   // namespace garner::policy
