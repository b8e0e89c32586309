// A voter and a member, message by message.
#include "group/voter.hpp"

#include <gtest/gtest.h>

#include <tuple>

#include "group/gate.hpp"
#include "group/member.hpp"

namespace garner::group {
namespace {

using Progress = MemberActions::Progress;

Settings settings(std::size_t voters = 1) {
    Settings one;
    one.identity = {.name = 1, .voters = 2, .lease = milliseconds(2000)};
    one.voters = voters;
    return one;
}

cache::Invalidation tag(std::string text) {
    return {.kind = cache::Invalidation::Kind::tag, .soft = false, .origin = {}, .text = std::move(text)};
}

/// A member and its voters, connected without delay. A voter that is cut off takes nothing and sends nothing.
struct Group final : MemberActions {
    explicit Group(std::size_t voters = 1, std::size_t most = Voter::log_default) : most(most), cut(voters), polls(voters) {
        for (std::size_t seat = 0; seat < voters; ++seat) start(seat);
        member = std::make_unique<Member>(settings(voters), 77, *this, now);
        run();
    }
    void start(std::size_t seat) {
        if (this->voters.size() <= seat) this->voters.resize(seat + 1);
        this->voters[seat] = std::make_unique<Voter>(settings(cut.size()), ++instances, now, most);
    }
    void connect(std::size_t seat) override { pending.push_back({seat, std::nullopt}); }
    void send(std::size_t seat, Message const& message) override {
        if (std::holds_alternative<Poll>(message)) ++polls[seat];
        pending.push_back({seat, message});
    }
    void apply(cache::Invalidation const& what) override { applied.push_back(what.text); }
    void take(Offer const& offer) override { offers.push_back(offer); }
    void raise_watermark() override { ++watermarks; }
    void report(NoticeId const&, Progress progress, std::size_t, std::string const& why) override {
        reports.push_back(progress);
        if (!why.empty()) reasons.push_back(why);
    }

    /// Delivers all messages.
    void run() {
        while (!pending.empty()) {
            auto const [seat, message] = pending.front();
            pending.erase(pending.begin());
            if (cut[seat]) continue;
            if (!message) {
                voters[seat]->closed(1);
                member->connected(seat, {}, now);
            } else {
                good = voters[seat]->receive(1, *message, now) && good;
            }
            answer(seat);
        }
    }
    void answer(std::size_t seat) {
        for (auto const link : voters[seat]->take_ready())
            while (auto const message = voters[seat]->next(link)) good = member->receive(seat, *message, now) && good;
        if (!voters[seat]->is_too_late(1)) return;
        voters[seat]->closed(1);
        member->disconnected(seat, now);
    }
    void pass(Time duration) {
        for (auto const end = now + duration; now < end;) {
            now = std::min(end, std::max(now + Time(1), member->next_tick()));
            member->tick(now);
            run();
        }
    }
    /// Another member appends at this voter.
    void append(std::size_t seat, std::string text, std::uint64_t number) {
        constexpr Voter::Link link = 2;
        Hello hello;
        hello.identity = settings().identity;
        if (!voters[seat]->receive(link, hello, now)) return;
        (void)voters[seat]->receive(link, Append{{.id = {.process = 5, .number = number}, .what = tag(std::move(text))}}, now);
        while (voters[seat]->next(link)) {
        }
        voters[seat]->closed(link);
        if (!cut[seat]) answer(seat);
        run();
    }
    bool is_current() const { return now <= member->current_until(); }

    Time now = seconds(100);
    std::uint64_t instances = 0;
    std::size_t most;
    std::vector<bool> cut;
    std::vector<std::size_t> polls;   // by voter
    std::vector<std::unique_ptr<Voter>> voters;
    std::unique_ptr<Member> member;
    std::vector<std::pair<std::size_t, std::optional<Message>>> pending;
    std::vector<std::string> applied, reasons;
    std::vector<Offer> offers;
    std::vector<Progress> reports;
    int watermarks = 0;
    bool good = true;
};

TEST(Group, one_member_is_a_group) {
    Group group;
    EXPECT_TRUE(group.is_current());
    EXPECT_EQ(group.watermarks, 1);
    group.member->submit(tag("news"), group.now);
    group.run();
    EXPECT_EQ(group.applied, std::vector<std::string>{"news"});   // once, although the voter sends it back
    EXPECT_EQ(group.reports, std::vector{Progress::accepted});
    group.pass(seconds(5));
    EXPECT_EQ(group.reports, (std::vector{Progress::accepted, Progress::everywhere}));
    EXPECT_TRUE(group.is_current());
    EXPECT_EQ(group.watermarks, 1);
    EXPECT_TRUE(group.good);
}

TEST(Group, a_member_without_a_majority_is_cut_off_within_a_lease_and_comes_back_without_a_watermark) {
    Group group(3);
    group.pass(seconds(4));
    group.cut[0] = group.cut[1] = true;
    group.pass(seconds(2));
    EXPECT_FALSE(group.is_current());
    group.cut[0] = false;
    group.pass(seconds(2));
    EXPECT_TRUE(group.is_current());
    EXPECT_EQ(group.watermarks, 1);
}

TEST(Group, the_lease_ends_on_the_slowest_clock_before_it_does_on_the_fastest) {
    Times const times{.lease = seconds(2)};
    EXPECT_LT(times.held() * 100 / 99, times.lease);                             // held by a slow clock
    EXPECT_GE(times.spread() * 100 / 101, 2 * (times.held() * 100 / 99));        // waited by a fast clock
    EXPECT_GE(times.lease * 100 / 101, times.held() * 100 / 99 - Time(1'000));   // as for trust and confirmations
}

TEST(Group, a_submission_without_a_majority_is_not_accepted) {
    Group group(3);
    group.cut[1] = group.cut[2] = true;
    group.member->submit(tag("news"), group.now);
    group.pass(seconds(3));
    EXPECT_EQ(group.reports, std::vector{Progress::not_accepted});
    EXPECT_EQ(group.applied, std::vector<std::string>{"news"});
}

TEST(Group, a_submission_is_sent_again_after_a_connection_was_made) {
    Group group(3);
    group.cut[1] = group.cut[2] = true;
    group.member->submit(tag("news"), group.now);
    group.pass(milliseconds(900));
    EXPECT_TRUE(group.reports.empty());
    group.cut[1] = false;
    group.pass(milliseconds(500));
    EXPECT_EQ(group.reports, std::vector{Progress::accepted});
}

TEST(Group, what_was_missed_is_sent_after_a_connection_was_made) {
    Group group(3);
    group.cut.assign(3, true);
    for (std::size_t seat = 0; seat < 3; ++seat) group.append(seat, "news", 1);
    group.pass(seconds(3));
    EXPECT_TRUE(group.applied.empty());
    group.cut.assign(3, false);
    group.pass(seconds(2));
    EXPECT_EQ(group.applied, std::vector<std::string>{"news"});
    EXPECT_EQ(group.watermarks, 1);
}

TEST(Group, who_missed_a_hundred_thousand_gets_them_in_frames_of_bounded_size) {
    Group group;
    group.cut[0] = true;
    for (std::uint64_t number = 1; number <= 100'000; ++number) group.append(0, "news" + std::to_string(number), number);
    group.pass(seconds(3));
    group.cut[0] = false;
    group.pass(seconds(1));
    EXPECT_EQ(group.applied.size(), 100'000U);
    EXPECT_TRUE(group.is_current());
    EXPECT_EQ(group.watermarks, 1);
    EXPECT_TRUE(group.good);
}

TEST(Group, a_list_that_has_forgotten_what_a_member_missed_costs_it_a_watermark) {
    Group group(1, 10);
    group.cut[0] = true;
    for (std::uint64_t number = 1; number <= 11; ++number) group.append(0, std::to_string(number), number);
    group.pass(seconds(3));
    group.cut[0] = false;
    group.pass(seconds(2));
    EXPECT_EQ(group.applied.size(), 0U);
    EXPECT_TRUE(group.is_current());
    EXPECT_EQ(group.watermarks, 2);
    EXPECT_EQ(group.voters[0]->held(), 10U);
}

TEST(Group, voters_that_restart_one_after_another_cost_no_watermark) {
    Group group(3);
    group.pass(seconds(4));
    for (std::size_t seat = 0; seat < 3; ++seat) {
        group.start(seat);
        group.member->disconnected(seat, group.now);
        group.pass(seconds(1));
        EXPECT_FALSE(group.member->voters()[seat].trusted) << seat;
        group.pass(seconds(3));
        EXPECT_TRUE(group.member->voters()[seat].trusted) << seat;
        EXPECT_TRUE(group.is_current());
    }
    EXPECT_EQ(group.watermarks, 1);
}

TEST(Group, a_majority_that_restarts_costs_a_watermark) {
    Group group(3);
    group.pass(seconds(4));
    for (std::size_t seat = 0; seat < 2; ++seat) {
        group.start(seat);
        group.member->disconnected(seat, group.now);
    }
    group.pass(seconds(3));
    EXPECT_TRUE(group.is_current());
    EXPECT_EQ(group.watermarks, 2);
}

TEST(Group, voters_hear_of_measured_lines_and_again_with_a_new_connection) {
    Group group(3);
    group.member->set_lines({.uplink = 5, .downlink = 6});
    group.run();
    group.start(0);
    group.member->disconnected(0, group.now);
    group.pass(seconds(3));
    for (std::size_t seat = 0; seat < 3; ++seat) {
        auto const members = group.voters[seat]->members();
        ASSERT_EQ(members.size(), 1u) << seat;
        EXPECT_EQ(members[0].uplink, 5u) << seat;
        EXPECT_EQ(members[0].downlink, 6u) << seat;
    }
    EXPECT_TRUE(group.good);
}

TEST(Group, a_voter_names_the_reason_of_a_refusal) {
    struct Case {
        Hello hello;
        char const* word;
    };
    Hello good;
    good.identity = settings().identity;
    std::vector<Case> cases(4, {good, ""});
    cases[0] = {good, "version"};
    cases[0].hello.version = 9;
    cases[1] = {good, "group.name"};
    cases[1].hello.identity.name = 9;
    cases[2] = {good, "group.voters"};
    cases[2].hello.identity.voters = 9;
    cases[3] = {good, "group.lease"};
    cases[3].hello.identity.lease = milliseconds(9);
    for (auto const& [hello, word] : cases) {
        Voter voter(settings(), 1, Time(0));
        EXPECT_FALSE(voter.receive(1, hello, Time(0)));
        auto const answer = voter.next(1);
        ASSERT_TRUE(answer);
        EXPECT_NE(std::get<Refused>(*answer).why.find(word), std::string::npos) << word;
        EXPECT_FALSE(voter.next(1));
    }
}

/// A recorded HELLO is valid, but only a member can go on with the nonce in WELCOME.
TEST(Group, a_connection_is_that_of_a_member_after_a_message_behind_HELLO) {
    Voter voter(settings(), 1, Time(0));
    Hello hello;
    hello.identity = settings().identity;
    hello.instance = 1;
    hello.member = "cache1";
    EXPECT_TRUE(voter.receive(1, hello, Time(0)));
    EXPECT_TRUE(voter.receive(2, hello, Time(0)));
    EXPECT_TRUE(voter.receive(2, Append{{.id = {.process = 5, .number = 1}, .what = tag("news")}}, Time(0)));
    for (auto const link : voter.take_ready())
        for (auto message = voter.next(link); message; message = voter.next(link))
            EXPECT_TRUE(link == 2 || std::holds_alternative<Welcome>(*message)) << message->index();
    EXPECT_EQ(voter.members().size(), 1u);
    EXPECT_TRUE(voter.receive(1, Poll{.number = 1, .applied = 0}, Time(0)));
    EXPECT_EQ(voter.members().size(), 2u);
    EXPECT_EQ(voter.take_ready(), std::vector<Voter::Link>{1});
    auto const news = voter.next(1);
    ASSERT_TRUE(news && std::holds_alternative<News>(*news));
    auto const state = voter.next(1);
    EXPECT_TRUE(state && std::holds_alternative<State>(*state));
}

TEST(Group, messages_that_violate_the_protocol_are_refused) {
    Voter voter(settings(), 1, Time(0));
    EXPECT_FALSE(voter.receive(1, Poll{.number = 1, .applied = 0}, Time(0)));   // before Hello
    Hello hello;
    hello.identity = settings().identity;
    EXPECT_TRUE(voter.receive(2, hello, Time(0)));
    EXPECT_FALSE(voter.receive(2, hello, Time(0)));                             // twice
    EXPECT_FALSE(voter.receive(2, Poll{.number = 1, .applied = 5}, Time(0)));   // more than was sent
    EXPECT_FALSE(voter.receive(2, State{}, Time(0)));                           // of a voter

    Group group;
    EXPECT_FALSE(group.member->receive(0, State{.number = 999, .latest = 0}, group.now));
    EXPECT_FALSE(group.member->receive(0, News{.first = 2, .notices = {Notice{}}}, group.now));   // one is missing
    EXPECT_FALSE(group.member->receive(0, Welcome{.nonce = {}, .instance = 1, .sequence = 0}, group.now));
    EXPECT_FALSE(group.member->receive(0, Hello{}, group.now));
}

TEST(Group, a_member_that_reads_no_replies_loses_its_connection) {
    Voter voter(settings(), 1, Time(0));
    Hello hello;
    hello.identity = settings().identity;
    ASSERT_TRUE(voter.receive(1, hello, Time(0)));
    std::uint64_t sent = 0;
    for (; sent < 100'000 && !voter.is_too_late(1); ++sent) {
        Append const append{.notice = {.id = {.process = 7, .number = sent + 1}, .what = tag("t")}};
        ASSERT_TRUE(voter.receive(1, append, Time(0)));
    }
    EXPECT_LT(sent, 20'000U);
    EXPECT_FALSE(voter.next(1));
    voter.closed(1);
    EXPECT_TRUE(voter.receive(2, hello, Time(0)));   // the voter goes on
    EXPECT_TRUE(voter.next(2));
}

TEST(Group, an_idle_member_sends_four_polls_a_second_to_each_voter) {
    Group group(3);
    group.polls.assign(3, 0);   // one follows WELCOME
    group.pass(seconds(1));
    EXPECT_EQ(group.polls, (std::vector<std::size_t>{4, 4, 4}));
    group.pass(seconds(9));
    EXPECT_EQ(group.polls, (std::vector<std::size_t>{40, 40, 40}));
    auto const before = group.voters[0]->members().at(0).heard;
    EXPECT_GE(before, group.now - milliseconds(250));
    EXPECT_EQ(group.voters[0]->members().at(0).process, 77U);
}

TEST(Gate, decides_by_lease_invalidation_and_passed_caches) {
    Times const times{.lease = seconds(2)};
    Time const now = seconds(100);
    Held const fresh{.outdated = Outdated::no, .is_fresh = true, .passed = never};
    Held const passed{.outdated = Outdated::no, .is_fresh = true, .passed = now - seconds(1)};
    Held const long_ago{.outdated = Outdated::no, .is_fresh = true, .passed = now - seconds(2)};
    EXPECT_EQ(use_of(fresh, true, times, now), Use::serve);
    EXPECT_EQ(use_of(fresh, false, times, now), Use::validate);
    EXPECT_EQ(use_of(passed, false, times, now), Use::serve);
    EXPECT_EQ(use_of(long_ago, false, times, now), Use::validate);
    for (auto const& [outdated, use, on_error] :
         {std::tuple(Outdated::no, Use::serve, true), std::tuple(Outdated::soft, Use::validate, true),
          std::tuple(Outdated::watermark, Use::validate, false), std::tuple(Outdated::hard, Use::fetch, false)}) {
        Held const held{.outdated = outdated, .is_fresh = true, .passed = never};
        EXPECT_EQ(use_of(held, true, times, now), use);
        EXPECT_EQ(may_serve_on_error(held, true), on_error);
        EXPECT_FALSE(may_serve_on_error(held, false));
    }
    EXPECT_TRUE(must_pass_caches(never, never, false, times, now));
    EXPECT_FALSE(must_pass_caches(never, never, true, times, now));
    EXPECT_TRUE(must_pass_caches(now - seconds(4), never, true, times, now));
    EXPECT_TRUE(must_pass_caches(never, now - seconds(4), true, times, now));
    EXPECT_FALSE(must_pass_caches(now - seconds(5), now - seconds(5), true, times, now));

    Gate gate;
    EXPECT_FALSE(gate.is_open(now));
    gate.renew(now);
    EXPECT_TRUE(gate.is_open(now));
    EXPECT_FALSE(gate.is_open(now + Time(1)));
}

}   // namespace
}   // namespace garner::group
