// Collapsed requests: the next leader, the followers' views, and the wake-ups.
#include "cache/fill.hpp"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <deque>
#include <optional>
#include <random>
#include <thread>

#include "cache/scene.hpp"
#include "net/waiter.hpp"
#include "share/shares.hpp"

namespace garner::cache {
namespace {

using Kind = Lookup::Kind;
using Phase = FillView::Phase;

struct Fetch : Scene {
    Lookup leader = lookup("u");
    std::deque<Follower> followers;
    Follower& follow() { return followers.emplace_back(lookup("u").follow); }
};

TEST(Fill, is_paid_by_the_follower_whose_turn_comes_first) {
    using share::Direction;
    share::Shares shares;   // outlives the followers
    Fetch fetch;
    shares.configure({.down = 1'000'000, .up = 0, .by = share::By::user, .credit = 0, .weights = {}});
    auto const& line = shares.line(Direction::down);
    auto const heavy = shares.subject("heavy", 1), light = shares.subject("light", 1);
    EXPECT_TRUE(shares.line(Direction::down).charge(heavy->flow(Direction::down), MiB, steady_now()));
    auto const payer = [&] { return fetch.leader.lead.fill()->payer(line, Direction::down); };
    fetch.follow();
    EXPECT_EQ(payer(), share::SubjectRef());
    fetch.follow().pay_as(heavy, nullptr);
    EXPECT_EQ(payer(), heavy);
    fetch.follow().pay_as(light, nullptr);
    EXPECT_EQ(payer(), light);
}

TEST(Fill, has_the_fastest_cap_of_its_followers_and_they_pay_only_for_what_it_has_not_charged) {
    constexpr auto down = share::Direction::down;
    auto const payer = std::make_shared<share::Shares>();
    share::Caps caps;
    share::CapRule slow, fast;
    slow.name = "slow", slow.down = 1'000;
    fast.name = "fast", fast.down = 2'000;
    caps.configure({slow, fast});
    auto const of_slow = caps.find("slow", "a"), of_fast = caps.find("fast", "b");
    Fetch fetch;
    auto const& fill = fetch.leader.lead.fill();
    EXPECT_FALSE(fill->fastest_cap(down)) << "no follower";
    auto& first = fetch.follow();
    first.pay_as(payer->subject("a", 1), of_slow);
    EXPECT_EQ(fill->fastest_cap(down), of_slow);
    fill->note_charged(*of_slow, 100);
    auto& second = fetch.follow();
    second.pay_as(payer->subject("b", 1), of_fast);
    EXPECT_EQ(fill->fastest_cap(down), of_fast);
    fill->note_charged(*of_fast, 100);
    EXPECT_EQ(first.not_charged(60), 0u);
    EXPECT_EQ(first.not_charged(60), 20u);
    EXPECT_EQ(second.not_charged(160), 60u);
    auto& third = fetch.follow();
    third.pay_as(payer->subject("c", 1), nullptr);
    EXPECT_EQ(fill->fastest_cap(down), std::shared_ptr<share::Cap>());
    EXPECT_EQ(third.not_charged(1'000), 0u);
    fetch.followers.clear();
}

TEST(Fill, knows_when_it_last_waited_for_the_line) {
    Fetch fetch;
    auto const& fill = fetch.leader.lead.fill();
    auto const now = steady_now();
    EXPECT_EQ(fill->last_in_line(now), SteadyTime{});
    fill->begin_wait({});
    auto const later = now + std::chrono::hours(1);
    EXPECT_EQ(fill->last_in_line(later), later) << "it waits still";
    fill->end_wait();
    EXPECT_GE(fill->last_in_line(later), now);
    EXPECT_LT(fill->last_in_line(later), later);
}

TEST(Fill, followers_see_the_head_the_growth_and_the_end) {
    Fetch fetch;
    auto& follower = fetch.follow();
    auto start = follower.view();
    EXPECT_EQ(start.phase, Phase::head);
    auto object = fetch.object("u");
    fetch.leader.lead.head_is_storable(object, {}, {});
    auto body = follower.view();
    EXPECT_EQ(body.phase, Phase::body);
    EXPECT_EQ(body.object, object);
    fetch.leader.lead.fill()->grown();
    auto more = follower.view();
    EXPECT_GT(more.version, body.version);
    fetch.leader.lead.complete(object, {}, {});
    EXPECT_EQ(follower.view().phase, Phase::complete);
    EXPECT_FALSE(fetch.leader.lead);
    EXPECT_EQ(fetch.cache.memory().stats().fills, 0u);
}

TEST(Fill, a_failure_is_told_to_all) {
    Fetch fetch;
    fetch.follow();
    fetch.follow();
    fetch.leader.lead.fail({504, "no answer"});
    for (auto& follower : fetch.followers) {
        EXPECT_EQ(follower.view().phase, Phase::failed);
        EXPECT_EQ(follower.view().failure.status, 504);
        EXPECT_EQ(follower.view().failure.reason, "no answer");
        EXPECT_FALSE(follower.promoted());
    }
    EXPECT_EQ(fetch.kind("u"), Kind::absent) << "the next request leads again";
}

TEST(Fill, a_lease_dropped_before_the_head_promotes_one_follower_the_first) {
    Fetch fetch;
    auto &first = fetch.follow(), &second = fetch.follow(), &third = fetch.follow();
    fetch.leader.lead.drop();
    EXPECT_TRUE(first.promoted());
    EXPECT_FALSE(second.promoted());
    auto lead = first.take_lead();
    EXPECT_FALSE(first.promoted());
    EXPECT_EQ(fetch.lookup("u").follow, lead.fill()) << "the fill goes on under its new leader";
    fetch.complete(lead, "u");
    EXPECT_EQ(third.view().phase, Phase::complete);
}

TEST(Fill, a_promoted_follower_that_dies_before_it_leads_passes_the_lead_on) {
    Fetch fetch;
    std::optional<Follower> first(std::in_place, fetch.leader.lead.fill());
    auto& second = fetch.follow();
    fetch.leader.lead.drop();
    ASSERT_TRUE(first->promoted());
    first.reset();
    EXPECT_TRUE(second.promoted());
    second.take_lead().drop();
    EXPECT_TRUE(second.promoted()) << "it is still waiting";
    fetch.followers.clear();
    EXPECT_EQ(fetch.cache.memory().stats().fills, 0u);
}

TEST(Fill, a_lease_dropped_after_the_head_fails_the_fill) {
    Fetch fetch;
    auto& follower = fetch.follow();
    fetch.leader.lead.head_is_storable(fetch.object("u"), {}, {});
    fetch.leader.lead.drop();
    EXPECT_FALSE(follower.promoted());
    EXPECT_EQ(follower.view().phase, Phase::failed);
    EXPECT_EQ(fetch.cache.memory().stats().fills, 0u);
    EXPECT_EQ(fetch.cache.memory().stats().objects, 0u);
}

TEST(Fill, who_comes_to_a_fill_without_a_leader_fetches_for_himself) {
    Fetch fetch;
    auto fill = fetch.lookup("u").follow;
    fetch.leader.lead.drop();
    Follower late(fill);
    EXPECT_FALSE(late.promoted());
    EXPECT_EQ(late.view().phase, Phase::refused);
    EXPECT_EQ(fetch.kind("u"), Kind::absent) << "the URL is not marked: the next request may lead";
}

TEST(Fill, a_lease_that_is_moved_over_ends_what_it_held) {
    Fetch fetch;
    auto& follower = fetch.follow();
    fetch.leader.lead = FillLease();
    EXPECT_TRUE(follower.promoted());
    auto lead = follower.take_lead();
    auto moved = std::move(lead);
    EXPECT_FALSE(lead);   // NOLINT: moved from, and that is what is asked
    EXPECT_TRUE(moved);
}

TEST(Fill, knows_its_slowest_follower_and_gives_up_on_laggards) {
    Fetch fetch;
    auto& fill = *fetch.leader.lead.fill();
    EXPECT_EQ(fill.slowest_follower(), UINT64_MAX);
    auto &fast = fetch.follow(), &slow = fetch.follow();
    fast.read_up_to(500);
    slow.read_up_to(100);
    EXPECT_EQ(fill.slowest_follower(), 100u);
    fill.charge_laggards(600, seconds{0}, milliseconds{0});
    fill.charge_laggards(600, seconds{9}, milliseconds{0});
    EXPECT_FALSE(slow.dropped()) << "no follower keeps up, so none is delayed";
    fill.charge_laggards(500, seconds{0}, seconds{5});
    fill.charge_laggards(500, seconds{6}, seconds{5});
    EXPECT_TRUE(slow.dropped());
    EXPECT_FALSE(fast.dropped());
    EXPECT_EQ(fill.slowest_follower(), 500u);
    EXPECT_EQ(fill.followers(), 2u);
    fetch.followers.clear();
    EXPECT_EQ(fill.followers(), 0u);
}

TEST(Fill, what_a_follower_holds_the_others_back_is_added_up) {
    Fetch fetch;
    auto& fill = *fetch.leader.lead.fill();
    auto &fast = fetch.follow(), &slow = fetch.follow();
    for (Bytes size = 100; size <= 400; size += 100) {
        fast.read_up_to(size);
        fill.charge_laggards(size, seconds{100}, seconds{5});
        EXPECT_EQ(slow.dropped(), size == 400) << size;
        slow.read_up_to(size);
        fill.charge_laggards(size, seconds{2}, seconds{5});
    }
    EXPECT_FALSE(fast.dropped());
}

TEST(Fill, few_fetch_beside_it_and_one_of_each_client) {
    Fetch fetch;
    auto const fill = fetch.leader.lead.fill();
    std::vector<Beside> taken;
    auto take = [&](std::uint8_t client) {
        auto place = Fill::go_beside(fill, IpAddress::v4(10, 0, 0, client));
        bool const is_there(place);
        if (is_there) taken.push_back(std::move(place));
        return is_there;
    };
    EXPECT_TRUE(take(1));
    EXPECT_FALSE(take(1));
    for (std::uint8_t client = 2; client <= Fill::beside_max; ++client) EXPECT_TRUE(take(client));
    EXPECT_FALSE(take(9));
    taken.pop_back();
    EXPECT_TRUE(take(9));
}

/// A waiting coroutine and the reason for its wake-up.
struct Sleeper {
    net::asio::io_context& io;
    net::Waiter waiter{io.get_executor()};
    std::optional<net::Wake> woken{};

    explicit Sleeper(net::asio::io_context& io) : io(io) { net::asio::co_spawn(io, sleep(), net::asio::detached); }
    net::awaitable<void> sleep() { woken = co_await waiter.wait(seconds{10}); }
    bool awake() {
        io.restart();   // poll() stops the context when it runs out of work
        io.poll();
        return woken == net::Wake::ready;
    }
};

TEST(Fill, wakes_a_follower_at_each_change_and_at_once_when_it_missed_one) {
    net::asio::io_context io;
    Fetch fetch;
    auto& follower = fetch.follow();
    Sleeper growth(io);
    auto seen = follower.view().version;
    follower.wake_on_change(seen, growth.waiter.handle());
    EXPECT_FALSE(growth.awake());
    fetch.leader.lead.fill()->grown();
    EXPECT_TRUE(growth.awake());
    Sleeper late(io);
    follower.wake_on_change(seen, late.waiter.handle());
    EXPECT_TRUE(late.awake());
    Sleeper promotion(io);
    follower.wake_on_change(follower.view().version, promotion.waiter.handle());
    fetch.leader.lead.drop();
    EXPECT_TRUE(promotion.awake());
    EXPECT_TRUE(follower.promoted());
}

TEST(Fill, wakes_its_producer_when_a_follower_reads_on_or_leaves) {
    net::asio::io_context io;
    Fetch fetch;
    auto& fill = *fetch.leader.lead.fill();
    auto& follower = fetch.follow();
    Sleeper reading(io);
    fill.wake_on_reading(reading.waiter.handle());
    EXPECT_FALSE(reading.awake());
    follower.read_up_to(7);
    EXPECT_TRUE(reading.awake());
    Sleeper leaving(io);
    fill.wake_on_reading(leaving.waiter.handle());
    fetch.followers.clear();
    EXPECT_TRUE(leaving.awake());
}

TEST(Fill, leaders_that_die_while_others_join_leave_nobody_behind) {
    Scene scene;
    std::atomic<int> leaders{0};
    std::atomic<int> answered{0};
    auto lead = [&](FillLease lease, std::mt19937& random) {
        if (lease.fill()->leads_others()) {
            EXPECT_EQ(leaders.fetch_add(1), 0) << "two leaders of one URL";
        }
        if (random() % 64 == 0) std::this_thread::yield();
        if (lease.fill()->leads_others()) leaders.fetch_sub(1);
        if (random() % 8 == 0)
            lease.fail({502, "trouble"});
        else
            lease.drop();
        ++answered;
    };
    auto work = [&](unsigned seed) {
        std::mt19937 random(seed);
        for (int i = 0; i < 20'000; ++i) {
            auto found = scene.lookup("u");
            if (found.lead) {
                lead(std::move(found.lead), random);
                continue;
            }
            if (random() % 16 == 0) std::this_thread::yield();
            Follower follower(found.follow);
            auto give_up = steady_now() + seconds{10};
            for (;;) {
                if (follower.promoted()) {
                    lead(follower.take_lead(), random);
                    break;
                }
                auto phase = follower.view().phase;
                if (phase == Phase::failed || phase == Phase::refused) break;
                if (random() % 32 == 0) break;   // the client disconnected
                ASSERT_LT(steady_now(), give_up) << "the follower was neither served nor ended";
                std::this_thread::yield();
            }
        }
    };
    std::vector<std::jthread> threads;
    for (unsigned seed = 1; seed <= 4; ++seed) threads.emplace_back(work, seed);
    threads.clear();
    EXPECT_GT(answered, 0);
    EXPECT_EQ(scene.cache.memory().stats().fills, 0u);
}

}   // namespace
}   // namespace garner::cache
