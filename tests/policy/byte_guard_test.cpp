#include "policy/byte_guard.hpp"

#include <gtest/gtest.h>

#include <array>

namespace garner::policy {
namespace {

constexpr Bytes room = 1 * MiB, piece = 10 * KiB;
constexpr std::array<WorthOrder::Rule, 3> rules{{{.byte_weight = 1}, {.byte_weight = 1, .recency_weight = 9}, {.recency = true}}};

constexpr ByteGuard::Terms terms{.allowed = 0, .step = 0.015, .begin = 0}, allowing{.allowed = 0.01, .step = 0.015, .begin = 0};

/// Requests keys from `first` on, `count` times each in turn, so that LRU misses each once.
void request(ByteGuard& guard, std::uint32_t first, int keys, int count, bool missed) {
    for (int i = 0; i < keys; ++i)
        for (int j = 0; j < count; ++j) guard.request(first + static_cast<std::uint32_t>(i), piece, missed, room);
}

TEST(ByteGuard, stays_with_the_first_rule_without_a_debt) {
    ByteGuard guard(rules, terms, room);
    for (int i = 0; i < 10'000; ++i) guard.request(static_cast<std::uint32_t>(i % 1000), piece, true, room);   // LRU, too
    EXPECT_EQ(guard.rule(), rules[0]);
    request(guard, 0, 1000, 3, false);
    EXPECT_EQ(guard.rule(), rules[0]);
}

TEST(ByteGuard, goes_to_LRU_with_the_debt_and_back_when_it_is_earned) {
    ByteGuard guard(rules, terms, room);
    request(guard, 0, 2, 2, true);   // 2 misses more than LRU's: 2 % of the capacity
    EXPECT_EQ(guard.rule(), rules[1]);
    request(guard, 100, 2, 2, true);
    EXPECT_EQ(guard.rule(), rules[2]);
    request(guard, 200, 1000, 3, true);
    request(guard, 5000, 215, 1, false);   // the debt was limited to two capacities: LRU misses so much, and this cache nothing
    EXPECT_EQ(guard.rule(), rules[0]);
}

TEST(ByteGuard, is_led_back_by_the_allowed_excess) {
    ByteGuard guard(rules, allowing, room);
    request(guard, 0, 8, 2, true);
    EXPECT_EQ(guard.rule(), rules[2]);
    request(guard, 100, 1000, 1, true);   // as LRU
    EXPECT_EQ(guard.rule(), rules[0]);
}

TEST(ByteGuard, begins_inside_the_list_and_needs_evidence_to_leave_it) {
    ByteGuard::Terms const inside{.allowed = 0.01, .step = 0.015, .begin = 1};
    ByteGuard guard(rules, inside, room), worse(rules, inside, room);
    EXPECT_EQ(guard.rule(), rules[1]);
    request(guard, 0, 50, 1, true);   // as LRU, half a capacity
    EXPECT_EQ(guard.rule(), rules[1]);
    request(guard, 50, 50, 1, true);
    EXPECT_EQ(guard.rule(), rules[0]);
    request(worse, 0, 2, 2, true);
    EXPECT_EQ(worse.rule(), rules[2]);
    guard.set_capacity(2 * room);
    EXPECT_EQ(guard.rule(), rules[1]);
}

TEST(ByteGuard, moves_by_one_rule_for_one_large_miss) {
    ByteGuard guard(rules, terms, room);
    guard.request(1, room / 2, true, room);
    guard.request(1, room / 2, true, room);
    EXPECT_EQ(guard.rule(), rules[1]);
}

TEST(ByteGuard, lets_the_cache_lose_what_it_gained_before) {
    ByteGuard guard(rules, terms, room);
    request(guard, 0, 100, 1, false);   // the credit is limited to a quarter of the capacity
    request(guard, 200, 24, 2, true);
    EXPECT_EQ(guard.rule(), rules[0]);
    request(guard, 300, 5, 2, true);
    EXPECT_NE(guard.rule(), rules[0]);
}

TEST(ByteGuard, does_not_count_misses_of_what_was_purged) {
    ByteGuard guard(rules, terms, room);
    request(guard, 0, 8, 1, true);
    guard.excuse(8.0 * piece);
    request(guard, 0, 8, 1, true);
    EXPECT_EQ(guard.rule(), rules[0]);
    request(guard, 0, 8, 1, true);
    EXPECT_EQ(guard.rule(), rules[2]);
}

TEST(ByteGuard, gives_LRU_no_more_room_than_the_cache_has) {
    // 60 objects in a loop fit into the room, but half of it is used otherwise, so that LRU would miss them, too.
    ByteGuard guard(rules, allowing, room);
    request(guard, 0, 1000, 1, true);
    for (int i = 0; i < 30'000; ++i) guard.request(10'000 + static_cast<std::uint32_t>(i % 60), piece, true, room / 2.0);
    EXPECT_EQ(guard.rule(), rules[0]);
}

TEST(ByteGuard, forgets_its_debt_when_the_capacity_changes) {
    ByteGuard guard(rules, terms, room);
    request(guard, 0, 8, 2, true);
    guard.set_capacity(2 * room);
    request(guard, 100, 207, 2, true);   // until the simulated cache is full
    EXPECT_EQ(guard.rule(), rules[0]);
    request(guard, 400, 16, 2, true);
    EXPECT_EQ(guard.rule(), rules[2]);
}

TEST(ByteGuard, keeps_the_first_rule_where_it_cannot_know) {
    for (Bytes unknown : {Bytes{0}, 60 * KiB}) {
        ByteGuard guard(rules, {.allowed = 0, .step = 0.015, .begin = 2}, unknown);
        EXPECT_FALSE(guard.wants(0, 1 * GiB));
        EXPECT_EQ(guard.rule(), rules[0]);
        EXPECT_EQ(guard.metadata_bytes(), 0u);
    }
}

}   // namespace
}   // namespace garner::policy
