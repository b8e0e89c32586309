// Deadlines: never early, at most one and a half ticks late, cheap to move.
#include "net/deadline.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "net/loop.hpp"

namespace garner::net {
namespace {

struct Probe {
    explicit Probe(DeadlineWheel& wheel)
        : deadline(
              wheel, [](void* self) { static_cast<Probe*>(self)->run_out(); }, this) {}
    void run_out() {
        ++times;
        at = steady_now();
    }
    int times = 0;
    SteadyTime at{};
    Deadline deadline;
};

TEST(DeadlineWheel, a_deadline_runs_out_once_and_never_early) {
    Loop loop;
    for (int delay : {0, 1, 99, 100, 101, 250}) {
        Probe probe(loop.wheel);
        auto begun = steady_now();
        probe.deadline.arm(milliseconds{delay});
        EXPECT_FALSE(probe.deadline.expired());
        loop.run_until([&] { return probe.times > 0; });
        EXPECT_GE(probe.at - begun, milliseconds{delay}) << delay;
        EXPECT_LE(probe.at - begun, milliseconds{delay + 350}) << delay;
        EXPECT_TRUE(probe.deadline.expired());
        loop.run_for(milliseconds{250});
        EXPECT_EQ(probe.times, 1);
    }
}

TEST(DeadlineWheel, a_deadline_armed_again_runs_out_at_its_last_time_only) {
    Loop loop;
    Probe later(loop.wheel), sooner(loop.wheel);
    auto begun = steady_now();
    later.deadline.arm(milliseconds{100});
    later.deadline.arm(milliseconds{500});
    sooner.deadline.arm(seconds{60});
    sooner.deadline.arm(milliseconds{100});
    loop.run_until([&] { return later.times > 0; });
    EXPECT_GE(later.at - begun, milliseconds{500});
    EXPECT_EQ(sooner.times, 1);
    EXPECT_LE(sooner.at - begun, milliseconds{400});
}

TEST(DeadlineWheel, a_disarmed_deadline_does_not_run_out) {
    Loop loop;
    Probe probe(loop.wheel);
    probe.deadline.arm(milliseconds{100});
    probe.deadline.disarm();
    loop.run_for(milliseconds{400});
    EXPECT_EQ(probe.times, 0);
    EXPECT_FALSE(probe.deadline.expired());
}

TEST(DeadlineWheel, a_deadline_may_die_while_armed_and_in_anothers_action) {
    Loop loop;
    auto doomed = std::make_unique<Probe>(loop.wheel);
    auto other = std::make_unique<Probe>(loop.wheel);
    doomed->deadline.arm(milliseconds{100});
    other->deadline.arm(milliseconds{100});
    doomed.reset();

    struct Killer {
        std::unique_ptr<Probe> victim;
        int times = 0;
    } killer{std::move(other)};
    Deadline kill(
        loop.wheel,
        [](void* self) {
            static_cast<Killer*>(self)->victim.reset();
            ++static_cast<Killer*>(self)->times;
        },
        &killer);
    kill.arm(milliseconds{100});
    loop.run_until([&] { return killer.times > 0; });
    EXPECT_FALSE(killer.victim);
}

TEST(DeadlineWheel, a_tick_runs_ten_times_a_second) {
    Loop loop;
    int ticks = 0;
    loop.wheel.on_tick([](void* count) { ++*static_cast<int*>(count); }, &ticks);
    loop.run_for(milliseconds{1'050});
    EXPECT_GE(ticks, 5);
    EXPECT_LE(ticks, 11);
}

}   // namespace
}   // namespace garner::net
