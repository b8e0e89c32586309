// Coroutines of one worker that take bytes from a line.
#include "share/account.hpp"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <deque>
#include <map>

namespace garner::share {
namespace {

struct AWorker {
    net::asio::io_context io{1};
    Shares shares;
    Clock clock{io};
    explicit AWorker(Bytes rate) {
        Options options;
        options.down = rate;
        shares.configure(options);
    }
    SubjectRef subject(char const* name) { return shares.subject(subject_key(name), 1); }
    Account account(char const* name, std::shared_ptr<Cap> cap = nullptr) { return {shares, clock, subject(name), std::move(cap)}; }
    void start(net::awaitable<void> coroutine) {
        net::asio::co_spawn(io.get_executor(), std::move(coroutine), net::asio::detached);
    }
};

/// Receives until `end`.
net::awaitable<void> transfer(Account& account, Bytes& moved, SteadyTime end) {
    while (steady_now() < end) {
        auto const bytes = account.piece(Direction::down);
        account.charge(Direction::down, bytes);
        moved += bytes;
        if (account.owes(Direction::down)) co_await account.settle(Direction::down);
    }
}

/// At most one follower.
class Followers : public Payers {
public:
    Payer payer(Line const&, Direction) const override { return follower_; }
    std::optional<std::shared_ptr<Cap>> fastest_cap(Direction) const override { return cap_; }
    void note_charged(Cap const& cap, Bytes bytes) override { charged[&cap] += bytes; }
    void begin_wait(net::WakeHandle handle) override {
        paying_ = std::move(handle);
        waits = true;
    }
    void end_wait() override { waits = false; }
    void join(SubjectRef follower, std::shared_ptr<Cap> cap = nullptr) {
        follower_ = std::move(follower);
        cap_ = std::move(cap);
        paying_.wake(net::Wake::ready);
    }

    bool waits = false;
    std::map<Cap const*, Bytes> charged;

private:
    SubjectRef follower_;
    std::shared_ptr<Cap> cap_;
    net::WakeHandle paying_;
};

constexpr milliseconds for_a_second{1'000};

TEST(Account, connections_of_a_subject_share_its_part) {
    constexpr Bytes rate = 20'000'000;
    AWorker worker(rate);
    auto const end = steady_now() + for_a_second;
    std::deque<Account> many;
    Bytes of_many = 0, of_one = 0;
    for (int i = 0; i < 16; ++i) {
        many.emplace_back(worker.shares, worker.clock, worker.subject("many"), nullptr);
        worker.start(transfer(many.back(), of_many, end));
    }
    auto one = worker.account("one");
    worker.start(transfer(one, of_one, end));
    worker.io.run();
    auto const each = static_cast<double>(of_one);
    EXPECT_NEAR(static_cast<double>(of_many) / each, 1, 0.2);
    EXPECT_LT(of_many + of_one, rate * 13 / 10 + 17 * 64 * KiB);
}

TEST(Account, replication_leaves_the_line_to_clients_and_takes_it_without_them) {
    AWorker worker(20'000'000);
    auto const replication = worker.shares.subject(replication_key(), 1.0F / 16);
    auto const begun = steady_now();
    std::deque<Account> fetches;
    Bytes of_fetches = 0, of_client = 0;
    for (int i = 0; i < 4; ++i) {
        fetches.emplace_back(worker.shares, worker.clock, replication, nullptr);
        worker.start(transfer(fetches.back(), of_fetches, begun + 2 * for_a_second));
    }
    auto client = worker.account("client");
    worker.start(transfer(client, of_client, begun + for_a_second));
    while (steady_now() < begun + for_a_second) worker.io.run_one_for(milliseconds{10});
    auto const beside_the_client = of_fetches;
    EXPECT_LT(beside_the_client, of_client / 4) << "a sixteenth, and the pieces that had begun";
    worker.io.run();
    EXPECT_GT(of_fetches, beside_the_client + 5'000'000);
}

TEST(Account, a_fill_is_paid_by_the_follower_with_least) {
    AWorker worker(1'000'000);
    auto debtor = worker.account("heavy");
    auto const heavy = worker.subject("heavy"), light = worker.subject("light");
    auto& line = worker.shares.line(Direction::down);
    // The line is overdrawn for an hour, all by one.
    line.charge(heavy->flow(Direction::down), 3'600'000'000, steady_now());
    debtor.charge(Direction::down, 1'000);
    ASSERT_TRUE(debtor.owes(Direction::down));
    auto const followers = std::make_shared<Followers>();
    debtor.pay_with(followers, false);
    EXPECT_EQ(line.figures(light->flow(Direction::down), steady_now()).waiting, 0u);
    bool ended = false;
    auto const wait = [&]() -> net::awaitable<void> {
        co_await debtor.settle(Direction::down);
        ended = true;
    };
    worker.start(wait());
    worker.io.run_for(milliseconds{50});
    EXPECT_EQ(line.figures(heavy->flow(Direction::down), steady_now()).waiting, 1u);
    followers->join(light);
    worker.io.run_for(milliseconds{50});
    EXPECT_EQ(line.figures(heavy->flow(Direction::down), steady_now()).waiting, 0u);
    EXPECT_EQ(line.figures(light->flow(Direction::down), steady_now()).waiting, 1u) << "it waits in the name of the other";
    EXPECT_FALSE(ended);
    EXPECT_TRUE(followers->waits) << "this is no silence of the fetch";
    debtor.abort();
    worker.io.run();
    EXPECT_TRUE(ended);
    EXPECT_FALSE(followers->waits);
}

TEST(Account, a_follower_with_a_faster_cap_ends_the_wait_for_the_cap_of_another_one) {
    AWorker worker(0);
    CapRule slow, fast;
    slow.name = "slow", slow.down = 10'000;
    fast.name = "fast", fast.down = 50'000'000;
    Caps caps;
    caps.configure({slow, fast});
    auto const of_slow = caps.find("slow", "one"), of_fast = caps.find("fast", "two");
    auto fill = worker.account("one", of_slow);
    auto const followers = std::make_shared<Followers>();
    followers->join(worker.subject("one"), of_slow);
    fill.pay_with(followers, false);
    for (int i = 0; i < 2; ++i) fill.charge(Direction::down, 1'000'000);
    ASSERT_TRUE(fill.owes(Direction::down));
    bool ended = false;
    auto const wait = [&]() -> net::awaitable<void> {
        co_await fill.settle(Direction::down);
        ended = true;
    };
    worker.start(wait());
    worker.io.run_for(milliseconds{50});
    EXPECT_FALSE(ended) << "100 s and more";
    followers->join(worker.subject("two"), of_fast);
    worker.io.run_for(milliseconds{50});
    EXPECT_TRUE(ended);
    fill.charge(Direction::down, 1'000);
    EXPECT_FALSE(fill.owes(Direction::down)) << "the debt stays with the slower cap";
    EXPECT_EQ(followers->charged[of_slow.get()], 2'000'000u);
    EXPECT_EQ(followers->charged[of_fast.get()], 1'000u);
    worker.io.run();
}

TEST(Account, one_with_a_slow_cap_asks_at_once_for_those_without) {
    AWorker worker(0);
    CapRule slow;
    slow.name = "slow", slow.down = 10'000;
    Caps caps;
    caps.configure({slow});
    auto leader = worker.account("one", caps.find("slow", "one"));
    for (int i = 0; i < 2; ++i) leader.charge(Direction::down, 1'000'000);
    bool asks = false;
    auto const ask = [&]() -> net::awaitable<void> {
        co_await leader.settle_before_asking();
        asks = true;
    };
    auto const followers = std::make_shared<Followers>();
    followers->join(worker.subject("one"), leader.own_cap());
    leader.pay_with(followers, true);
    worker.start(ask());
    worker.io.run_for(milliseconds{50});
    EXPECT_FALSE(asks);
    followers->join(worker.subject("two"));
    worker.io.run_for(milliseconds{50});
    EXPECT_TRUE(asks);
    worker.io.run();
}

TEST(Account, a_cap_holds_whatever_the_line_has_left) {
    AWorker worker(0);
    Caps caps;
    CapRule rule;
    rule.name = "guests";
    rule.down = 2'000'000;
    caps.configure({rule});
    auto guest = worker.account("guest", caps.find("guests", "guest"));
    auto second = worker.account("guest", caps.find("guests", "guest"));
    Bytes moved = 0;
    auto const end = steady_now() + for_a_second;
    worker.start(transfer(guest, moved, end));
    worker.start(transfer(second, moved, end));
    worker.io.run();
    auto const burst = rule.down / 4;
    EXPECT_NEAR(static_cast<double>(moved), static_cast<double>(rule.down + burst), 0.2 * static_cast<double>(rule.down));
}

TEST(Account, who_owes_waits_before_it_asks) {
    AWorker worker(1'000'000);
    {
        auto ended = worker.account("one");
        for (int i = 0; i < 10; ++i) ended.charge(Direction::down, 50'000);
        EXPECT_TRUE(ended.owes(Direction::down));
    }
    auto next = worker.account("one");
    auto other = worker.account("other");
    SteadyTime next_asks{}, other_asks{};
    auto const ask = [](Account& account, SteadyTime& at) -> net::awaitable<void> {
        co_await account.settle_before_asking();
        at = steady_now();
    };
    auto const begun = steady_now();
    worker.start(ask(next, next_asks));
    worker.start(ask(other, other_asks));
    worker.io.run();
    EXPECT_GE(next_asks - begun, milliseconds{10});
    EXPECT_LT(other_asks, next_asks);
}

}   // namespace
}   // namespace garner::share
