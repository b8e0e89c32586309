// The rotation of session ticket keys.
#include "net/ticket_keys.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace garner::net {
namespace {

constexpr SteadyTime ticket_begin{seconds{1'000'000}};
constexpr auto ticket_period = TicketKeys::period;

std::optional<bool> is_current(TicketKeys& keys, TicketKey const& key, SteadyTime now) {
    auto const found = keys.find(key.name, now);
    if (!found) return std::nullopt;
    EXPECT_EQ(found->key.cipher, key.cipher);
    EXPECT_EQ(found->key.mac, key.mac);
    return found->is_current;
}

TEST(TicketKeys, a_key_is_current_for_an_hour) {
    TicketKeys keys(ticket_begin);
    auto const first = keys.current(ticket_begin);
    EXPECT_EQ(keys.current(ticket_begin + ticket_period - milliseconds{1}).name, first.name);
    auto const second = keys.current(ticket_begin + ticket_period);
    EXPECT_NE(second.name, first.name);
    EXPECT_NE(second.cipher, first.cipher);
    EXPECT_NE(second.mac, first.mac);
    EXPECT_EQ(keys.current(ticket_begin + 2 * ticket_period - milliseconds{1}).name, second.name);
}

TEST(TicketKeys, the_two_keys_before_the_current_one_are_found) {
    TicketKeys keys(ticket_begin);
    auto const first = keys.current(ticket_begin);
    EXPECT_EQ(is_current(keys, first, ticket_begin + ticket_period - milliseconds{1}), true);
    EXPECT_EQ(is_current(keys, first, ticket_begin + ticket_period), false);
    auto const second = keys.current(ticket_begin + ticket_period);
    EXPECT_EQ(is_current(keys, first, ticket_begin + 3 * ticket_period - milliseconds{1}), false);
    EXPECT_EQ(is_current(keys, second, ticket_begin + 3 * ticket_period - milliseconds{1}), false);
    EXPECT_EQ(is_current(keys, first, ticket_begin + 3 * ticket_period), std::nullopt);
    EXPECT_EQ(is_current(keys, second, ticket_begin + 3 * ticket_period), false);
}

TEST(TicketKeys, a_long_pause_replaces_all_keys) {
    TicketKeys keys(ticket_begin);
    auto const first = keys.current(ticket_begin);
    EXPECT_EQ(is_current(keys, first, ticket_begin + 2 * ticket_period), false);
    auto const later = ticket_begin + 1'000 * ticket_period + seconds{5};
    EXPECT_EQ(is_current(keys, first, later), std::nullopt);
    auto const fresh = keys.current(later);
    EXPECT_EQ(keys.current(ticket_begin + 1'001 * ticket_period - milliseconds{1}).name, fresh.name);
    EXPECT_NE(keys.current(ticket_begin + 1'001 * ticket_period).name, fresh.name);
}

TEST(TicketKeys, a_late_first_use_does_not_lengthen_the_period) {
    TicketKeys keys(ticket_begin);
    auto const first = keys.current(ticket_begin + 3 * ticket_period / 2);
    EXPECT_EQ(keys.current(ticket_begin + 2 * ticket_period - milliseconds{1}).name, first.name);
    EXPECT_EQ(is_current(keys, first, ticket_begin + 2 * ticket_period), false);
}

TEST(TicketKeys, an_earlier_time_changes_nothing) {
    TicketKeys keys(ticket_begin);
    auto const first = keys.current(ticket_begin + ticket_period);
    EXPECT_EQ(keys.current(ticket_begin).name, first.name);
}

TEST(TicketKeys, threads_agree_on_the_current_key) {
    TicketKeys keys(ticket_begin);
    std::vector<TicketKey> seen(4);
    std::vector<std::thread> threads;
    for (auto& key : seen)
        threads.emplace_back([&] {
            for (int i = 0; i <= 100; ++i) key = keys.current(ticket_begin + i * ticket_period);
        });
    for (auto& thread : threads) thread.join();
    for (auto const& key : seen) EXPECT_EQ(is_current(keys, key, ticket_begin), true);
}

TEST(TicketKeys, pass_to_another_process_with_their_age) {
    TicketKeys former(ticket_begin), next(ticket_begin);
    auto const current = former.current(ticket_begin + ticket_period / 2);
    ASSERT_TRUE(next.restore(former.state(ticket_begin + ticket_period / 2), ticket_begin + ticket_period / 2));
    EXPECT_EQ(is_current(next, current, ticket_begin + ticket_period / 2), true);
    EXPECT_EQ(is_current(next, current, ticket_begin + ticket_period), false);
    EXPECT_FALSE(next.restore({"too short", milliseconds{0}}, ticket_begin));
}

TEST(TicketKeys, that_nothing_has_used_pass_to_another_process) {
    TicketKeys former(ticket_begin), next(ticket_begin);
    ASSERT_TRUE(next.restore(former.state(ticket_begin), ticket_begin));
    EXPECT_EQ(is_current(next, former.current(ticket_begin), ticket_begin), true);
}

}   // namespace
}   // namespace garner::net
