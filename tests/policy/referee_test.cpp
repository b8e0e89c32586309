#include "policy/referee.hpp"

#include <gtest/gtest.h>

#include <random>

namespace garner::policy {
namespace {

constexpr WorthOrder::Rule small_ones{}, recency{.recency = true};

TEST(MiniCache, is_LRU_by_recency) {
    MiniCache cache(recency, 30, 8);
    for (std::uint32_t tag : {1, 2, 3, 1, 4, 2, 1}) cache.request(tag, 1, 10);
    EXPECT_EQ(cache.misses, 5);   // misses: 1 2 3, 4 for 2, 2 for 3
    EXPECT_EQ(cache.missed_bytes, 50);
    cache.request(9, 1, 31);   // larger than the cache
    cache.request(1, 1, 10);
    EXPECT_EQ(cache.misses, 6);
}

TEST(MiniCache, finds_all_it_holds_whatever_left_before) {
    MiniCache cache(recency, 100, 128);
    std::mt19937 random(1);
    std::vector<std::uint32_t> asked;
    for (int i = 0; i < 20'000; ++i) {
        asked.push_back(random() % 1000 * 0x10001);
        cache.request(asked.back(), 1, 1);
        // The last hundred different keys are held, and the last fifty always.
        auto before = cache.misses;
        cache.request(asked[asked.size() - 1 - random() % std::min<std::size_t>(50, asked.size())], 1, 1);
        ASSERT_EQ(cache.misses, before);
    }
}

TEST(Referee, keeps_the_first_rule_where_it_cannot_know) {
    for (Bytes capacity : {Bytes{0}, 100 * KiB}) {
        Referee referee({small_ones, recency}, {.objects = 1}, capacity);
        EXPECT_FALSE(referee.wants(1));
        for (int i = 0; i < 3000; ++i) referee.request(0, 1, 1000);   // requests without a reason to change the rule
        EXPECT_EQ(referee.rule(), small_ones);
    }
}

TEST(Referee, halves_its_sample_until_the_copies_have_room) {
    Referee referee({small_ones, recency}, {.objects = 1}, 16 * MiB);
    auto memory = referee.metadata_bytes();
    std::uint64_t wanted = 0;
    for (std::uint64_t key = 1; key <= 100'000; ++key) {
        auto fingerprint = key * 0xd6e8'feb8'6659'fd93;
        if (!referee.wants(fingerprint)) continue;
        ++wanted;
        referee.request(static_cast<std::uint32_t>(key), 1, 1000);
    }
    EXPECT_LT(wanted, 10'000u);
    EXPECT_GT(wanted, 256u);
    EXPECT_EQ(referee.metadata_bytes(), memory);
}

TEST(Referee, takes_the_rule_that_misses_least_by_the_aim) {
    // Small objects are requested again; large ones twice at once and then never.
    auto judged = [](Referee::Aim aim) {
        Referee referee({small_ones, recency}, aim, 1 * MiB);
        std::mt19937 random(2);
        for (std::uint32_t i = 0; i < 40'000; ++i) {
            referee.request(random() % 60, 2, 12 * KiB);
            if (i % 4 == 0)
                for (int again = 0; again < 3; ++again) referee.request(1'000'000 + i, 1, 200 * KiB);
        }
        return referee.rule();
    };
    EXPECT_EQ(judged({.objects = 0, .bytes = 1}), recency);
    EXPECT_EQ(judged({.objects = 1, .bytes = 0}), small_ones);
}

}   // namespace
}   // namespace garner::policy
