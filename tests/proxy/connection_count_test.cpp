// The limit of client connections, and what a change of it does.
#include "proxy/connection_count.hpp"

#include <gtest/gtest.h>

#include "proxy/capacity.hpp"

namespace garner::proxy {
namespace {

void enter(ConnectionCount& count, int connections) {
    for (int i = 0; i < connections; ++i) count.enter();
}
void leave(ConnectionCount& count, int connections) {
    for (int i = 0; i < connections; ++i) count.leave();
}

TEST(ConnectionCount, at_the_limit_an_idle_connection_makes_room) {
    ConnectionCount count;
    count.limit(16);
    enter(count, 16);
    EXPECT_FALSE(count.needs_room());
    count.enter();
    EXPECT_TRUE(count.needs_room());
    EXPECT_FALSE(count.is_full()) << "a reserve of 2";
    count.enter();
    EXPECT_TRUE(count.is_full());
}

TEST(ConnectionCount, a_lower_limit_closes_none_and_admits_none_until_fewer_are_open) {
    ConnectionCount count;
    count.limit(100);
    enter(count, 50);
    count.limit(16);
    EXPECT_TRUE(count.is_full());
    EXPECT_FALSE(count.needs_room());
    leave(count, 34);
    EXPECT_EQ(count.now(), 16u);
    EXPECT_TRUE(count.is_full());
    EXPECT_FALSE(count.needs_room());
    count.leave();
    EXPECT_FALSE(count.is_full());
    enter(count, 2);
    EXPECT_TRUE(count.needs_room()) << "the limit works as before again";
}

TEST(ConnectionCount, the_same_limit_again_changes_nothing) {
    ConnectionCount count;
    count.limit(16);
    enter(count, 17);
    count.limit(16);
    EXPECT_TRUE(count.needs_room());
    EXPECT_FALSE(count.is_full());
}

TEST(ConnectionCount, a_higher_limit_admits_at_once) {
    ConnectionCount count;
    count.limit(50);
    enter(count, 20);
    count.limit(10);
    count.limit(15);
    EXPECT_TRUE(count.is_full());
    EXPECT_FALSE(count.needs_room()) << "still more than a lower limit allows";
    count.limit(30);
    EXPECT_FALSE(count.is_full());
    EXPECT_FALSE(count.is_lowered());
}

TEST(ConnectionCount, connections_to_origins_beyond_one_for_each_client_connection_leave_a_quarter_to_clients) {
    ConnectionCount count;
    count.limit(16);
    enter(count, 2);
    for (int i = 0; i < 12; ++i) {
        EXPECT_TRUE(count.may_enter_extra()) << i;
        count.enter_extra();
    }
    EXPECT_FALSE(count.may_enter_extra());
    EXPECT_EQ(count.now(), 2u);
    EXPECT_EQ(count.seats(), 14u);
    EXPECT_FALSE(count.is_full());
    enter(count, 3);
    EXPECT_TRUE(count.needs_room()) << "a client connects";
    count.leave_extra();
    EXPECT_TRUE(count.may_enter_extra());
    enter(count, 2);
    EXPECT_TRUE(count.is_full());
    EXPECT_FALSE(count.may_enter_extra()) << "not beyond the limit of all";
}

TEST(Capacity, a_connection_has_three_descriptors_and_others_stay_free) {
    auto const usual = capacity_of(1'048'576);
    EXPECT_EQ(usual.connections, (1'048'576u - 256) / 3);
    EXPECT_EQ(usual.idle_to_origins, usual.connections / 2);
    EXPECT_EQ(usual.attempts, usual.connections / 8);
    EXPECT_LE(usual.attempts + 2 * usual.pipes, usual.connections);
    EXPECT_EQ(usual.refreshes, 64u);
    auto const few = capacity_of(256);
    EXPECT_EQ(few.connections, 64u);
    EXPECT_EQ(few.pipes, 0);
    EXPECT_EQ(few.attempts, 8u);
    EXPECT_EQ(few.refreshes, 4u);
    EXPECT_EQ(capacity_of(3).connections, 4u);
    EXPECT_EQ(capacity_of(UINT64_MAX).connections, UINT32_MAX);
}

}   // namespace
}   // namespace garner::proxy
