#include "icp/liveness.hpp"

#include <gtest/gtest.h>

namespace garner::icp {
namespace {

class OfAPeer : public testing::Test {
protected:
    void pass(milliseconds time) { now += time; }
    /// A query without a reply for `time`; true if it has expired.
    bool lost(milliseconds time = milliseconds{1}) {
        liveness.asked(now);
        pass(time);
        return liveness.expired(now);
    }
    Health health() const { return liveness.health(now); }

    Liveness liveness;
    SteadyTime now{seconds{1'000}};
};

TEST_F(OfAPeer, is_alive_before_it_is_asked_and_while_it_answers) {
    EXPECT_EQ(health(), Health::alive);
    for (int i = 0; i < 100; ++i) {
        liveness.asked(now);
        pass(milliseconds{500});
        EXPECT_EQ(health(), Health::alive);
        EXPECT_FALSE(liveness.answered(now));
    }
}

TEST_F(OfAPeer, is_suspect_after_one_lost_query_until_it_answers) {
    EXPECT_FALSE(lost());
    EXPECT_EQ(health(), Health::suspect);
    EXPECT_FALSE(liveness.answered(now));
    EXPECT_EQ(health(), Health::alive);
}

TEST_F(OfAPeer, is_suspect_and_no_more_while_answers_are_overdue) {
    for (int i = 0; i < 1'000; ++i) {
        liveness.asked(now);
        liveness.overdue();
    }
    EXPECT_EQ(health(), Health::suspect);
    EXPECT_FALSE(liveness.answered(now));
    EXPECT_EQ(health(), Health::alive);
}

TEST_F(OfAPeer, is_dead_after_twenty_lost_queries_which_is_told_once) {
    for (unsigned i = 1; i < Liveness::unanswered_max; ++i) {
        EXPECT_FALSE(lost());
        EXPECT_EQ(health(), Health::suspect);
    }
    EXPECT_TRUE(lost());
    EXPECT_EQ(health(), Health::dead);
    for (int i = 0; i < 100; ++i) EXPECT_FALSE(lost());
    EXPECT_TRUE(liveness.answered(now));
    EXPECT_EQ(health(), Health::alive);
    EXPECT_FALSE(liveness.answered(now));
}

TEST_F(OfAPeer, is_not_dead_because_twenty_answers_are_under_way) {
    for (int i = 0; i < 1'000; ++i) liveness.asked(now);
    EXPECT_EQ(health(), Health::alive);
}

TEST_F(OfAPeer, needs_twenty_in_a_row) {
    for (int i = 0; i < 100; ++i) {
        EXPECT_FALSE(lost());
        if (i % 19 == 18) liveness.answered(now);
    }
    EXPECT_NE(health(), Health::dead);
}

TEST_F(OfAPeer, is_dead_after_ten_seconds_of_silence) {
    EXPECT_FALSE(lost(seconds{2}));
    EXPECT_FALSE(lost(seconds{2}));
    EXPECT_FALSE(lost(seconds{2}));
    EXPECT_FALSE(lost(seconds{2}));
    EXPECT_EQ(health(), Health::suspect);
    EXPECT_TRUE(lost(seconds{2}));
    EXPECT_EQ(health(), Health::dead);
    EXPECT_TRUE(liveness.answered(now));
    EXPECT_EQ(health(), Health::alive);
}

TEST_F(OfAPeer, is_only_suspect_for_one_lost_datagram_however_long_nobody_asks) {
    EXPECT_FALSE(lost());
    pass(seconds{3'600});
    EXPECT_EQ(health(), Health::suspect);
}

TEST_F(OfAPeer, that_nobody_asks_does_not_fall_silent) {
    liveness.asked(now);
    EXPECT_FALSE(liveness.answered(now));
    pass(seconds{3'600});
    EXPECT_FALSE(lost());
    EXPECT_FALSE(lost());
    EXPECT_EQ(health(), Health::suspect) << "the silence begins with the first lost query";
}

TEST_F(OfAPeer, is_dead_when_it_cannot_be_connected_to_until_a_connection_is_had) {
    EXPECT_TRUE(liveness.connect_failed(now));
    EXPECT_FALSE(liveness.connect_failed(now));
    pass(seconds{3'600});
    EXPECT_EQ(health(), Health::dead) << "a dead peer stays dead without a sign of life";
    EXPECT_FALSE(liveness.answered(now)) << "replies to queries do not revive a peer with failed connects";
    EXPECT_EQ(health(), Health::dead);
    EXPECT_TRUE(liveness.connected(now));
    EXPECT_EQ(health(), Health::alive);
}

TEST_F(OfAPeer, that_refuses_connections_is_probed_every_ten_seconds) {
    EXPECT_FALSE(liveness.wants_probe(now));
    liveness.connect_failed(now);
    EXPECT_FALSE(liveness.wants_probe(now));
    pass(Liveness::probe_interval - milliseconds{1});
    EXPECT_FALSE(liveness.wants_probe(now));
    pass(milliseconds{1});
    EXPECT_TRUE(liveness.wants_probe(now));
    liveness.probed(now);
    EXPECT_FALSE(liveness.wants_probe(now));
    pass(Liveness::probe_interval);
    EXPECT_TRUE(liveness.wants_probe(now));
    liveness.connected(now);
    EXPECT_FALSE(liveness.wants_probe(now));
}

TEST_F(OfAPeer, that_is_dead_in_both_ways_is_told_of_once_and_lives_when_both_are_over) {
    EXPECT_TRUE(liveness.connect_failed(now));
    for (unsigned i = 0; i < Liveness::unanswered_max; ++i) EXPECT_FALSE(lost());
    EXPECT_FALSE(liveness.connected(now));
    EXPECT_EQ(health(), Health::dead);
    EXPECT_TRUE(liveness.answered(now));
    EXPECT_EQ(health(), Health::alive);
}

TEST_F(OfAPeer, is_suspect_after_one_request_that_waits_and_dead_after_the_second) {
    EXPECT_FALSE(liveness.waited(now, now + seconds{1}));
    pass(seconds{1});
    EXPECT_EQ(health(), Health::suspect);
    EXPECT_TRUE(liveness.must_respond());
    EXPECT_TRUE(liveness.wants_probe(now)) << "at once";
    pass(seconds{1});
    EXPECT_TRUE(liveness.waited(now, now + seconds{1}));
    EXPECT_EQ(health(), Health::dead);
    EXPECT_FALSE(liveness.connected(now)) << "its kernel accepts connections";
    EXPECT_EQ(health(), Health::dead);
    EXPECT_TRUE(liveness.responded(now));
    EXPECT_EQ(health(), Health::alive);
    EXPECT_FALSE(liveness.must_respond());
}

TEST_F(OfAPeer, is_only_suspect_after_requests_that_wait_at_the_same_time) {
    for (int i = 0; i < 100; ++i) EXPECT_FALSE(liveness.waited(now, now + seconds{1}));
    EXPECT_EQ(health(), Health::suspect);
}

TEST_F(OfAPeer, is_dead_after_a_probe_that_waits_and_alive_after_one_that_gets_a_response_later) {
    liveness.waited(now, now);
    liveness.probed(now);
    EXPECT_TRUE(liveness.probe_waited(now));
    EXPECT_EQ(health(), Health::dead);
    EXPECT_FALSE(liveness.wants_probe(now));
    pass(Liveness::probe_interval);
    EXPECT_TRUE(liveness.wants_probe(now));
    EXPECT_TRUE(liveness.probe_responded(now));
    EXPECT_EQ(health(), Health::alive);
    EXPECT_FALSE(liveness.wants_probe(now));
}

TEST_F(OfAPeer, stays_suspect_if_it_answers_probes_while_requests_wait) {
    liveness.waited(now, now);
    EXPECT_FALSE(liveness.probe_responded(now));
    EXPECT_EQ(health(), Health::suspect);
}

TEST_F(OfAPeer, keeps_its_waits_in_another_process) {
    liveness.waited(now, now);
    liveness.probe_waited(now);
    Liveness next;
    next.adopt(liveness.state(now), now);
    EXPECT_EQ(next.health(now), Health::dead);
    EXPECT_TRUE(next.must_respond());
}

}   // namespace
}   // namespace garner::icp
