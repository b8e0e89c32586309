#include "icp/icp_responder.hpp"

#include <gtest/gtest.h>

#include "cache/scene.hpp"

namespace garner::icp {
namespace {

using Fetching = IcpResponder::Fetching;

IpAddress neighbour(std::uint8_t last = 7) { return IpAddress::v4(10, 0, 0, last); }

struct Answers {
    Answers() { options.allow = {*parse_network("10.0.0.0/8")}; }

    void store(std::string_view url, std::uint32_t lifetime = 1'000) {
        cache::Answer answer;
        answer.lifetime = lifetime;
        scene.store("f" + std::string(url), answer);
    }
    /// The reply; empty: no reply.
    std::optional<IcpMessage> ask(std::string_view url, IpAddress const& from = neighbour(), std::uint32_t flags = 0) {
        IcpMessage const query{Opcode::query, 77, flags, 0, url};
        if (!responder.answer(query, from, options, fetching, now, out)) return std::nullopt;
        IcpMessage answer;
        EXPECT_STREQ(parse_message(out, answer), nullptr);
        EXPECT_EQ(answer.number, 77u);
        EXPECT_EQ(answer.url, url);
        return answer;
    }
    Opcode said(std::string_view url, IpAddress const& from = neighbour()) {
        auto const answer = ask(url, from);
        EXPECT_TRUE(answer);
        return answer ? answer->opcode : Opcode::query;
    }
    void pass(milliseconds time) {
        now.steady += time;
        now.wall += time;
    }

    cache::Scene scene;
    OriginTimes origins;
    AgentCounters counters;
    Options options;
    Fetching fetching = Fetching::yes;
    IcpResponder::Now now{wall_now(), steady_now()};
    IcpResponder responder{scene.cache, origins, counters};
    std::string out;
};

TEST(IcpResponder, hit_is_said_of_what_is_fresh_for_the_margin_and_miss_of_the_rest) {
    Answers answers;
    answers.store("http://h/a");
    answers.store("http://h/short", 20);
    EXPECT_EQ(answers.said("http://h/a"), Opcode::hit);
    EXPECT_EQ(answers.said("HTTP://H:80/a"), Opcode::hit);   // however the URL is spelled
    EXPECT_EQ(answers.said("http://h/short"), Opcode::miss);
    EXPECT_EQ(answers.said("http://h/b"), Opcode::miss);
    answers.options.hit_margin = milliseconds{10'000};
    EXPECT_EQ(answers.said("http://h/short"), Opcode::hit);
    EXPECT_EQ(answers.counters.queries.value(), 5u);
    EXPECT_EQ(answers.counters.hits.value(), 3u);
    EXPECT_EQ(answers.counters.misses.value(), 2u);
}

TEST(IcpResponder, an_accelerators_objects_are_nobody_elses) {
    Answers answers;
    answers.scene.store("ahttp://h/a");
    EXPECT_EQ(answers.said("http://h/a"), Opcode::miss);
}

TEST(IcpResponder, what_does_not_parse_is_an_error_before_anything_else) {
    Answers answers;
    for (auto url : {"", "no url", "http://h/a b", "ftp://h/", "http://u@h/"}) {
        EXPECT_EQ(answers.said(url), Opcode::err) << url;
        EXPECT_EQ(answers.said(url, IpAddress::v4(192, 0, 2, 1)), Opcode::err) << url;
    }
    EXPECT_EQ(answers.counters.errors.value(), 10u);
}

TEST(IcpResponder, who_is_not_allowed_is_denied_and_after_a_hundred_times_told_nothing) {
    Answers answers;
    answers.store("http://h/a");
    auto const stranger = IpAddress::v4(192, 0, 2, 1);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(answers.said("http://h/a", stranger), Opcode::denied);
    for (int i = 0; i < 50; ++i) EXPECT_FALSE(answers.ask("http://h/a", stranger));
    EXPECT_EQ(answers.counters.denied.value(), 100u);
    EXPECT_EQ(answers.counters.silenced.value(), 50u);
    EXPECT_EQ(answers.said("http://h/a", IpAddress::v4(192, 0, 2, 2)), Opcode::denied);
    EXPECT_EQ(answers.said("http://h/a"), Opcode::hit);
    answers.options.allow.push_back(*parse_network("192.0.2.0/24"));
    EXPECT_EQ(answers.said("http://h/a", stranger), Opcode::hit);
}

TEST(IcpResponder, nobody_is_allowed_by_default) {
    Answers answers;
    answers.options = {};
    EXPECT_EQ(answers.said("http://h/a", IpAddress::v4(127, 0, 0, 1)), Opcode::denied);
}

TEST(IcpResponder, a_miss_is_not_to_be_fetched_here_while_starting_and_nothing_at_the_end) {
    Answers answers;
    answers.store("http://h/a");
    answers.fetching = Fetching::not_yet;
    EXPECT_EQ(answers.said("http://h/a"), Opcode::hit);
    EXPECT_EQ(answers.said("http://h/b"), Opcode::miss_nofetch);
    answers.fetching = Fetching::no_more;
    EXPECT_EQ(answers.said("http://h/a"), Opcode::miss_nofetch);
    EXPECT_EQ(answers.counters.nofetch.value(), 2u);
}

TEST(IcpResponder, one_address_has_its_rate_and_others_theirs) {
    Answers answers;
    answers.options.queries_per_second = 10;
    auto count = [&](IpAddress const& from) {
        int answered = 0;
        for (int i = 0; i < 50; ++i) answered += answers.ask("http://h/", from).has_value();
        return answered;
    };
    EXPECT_EQ(count(neighbour()), 10);
    EXPECT_EQ(count(neighbour(8)), 10);
    EXPECT_EQ(count(neighbour()), 0);
    answers.pass(milliseconds{500});
    EXPECT_EQ(count(neighbour()), 5);
    answers.pass(seconds{60});
    EXPECT_EQ(count(neighbour()), 10);
    EXPECT_EQ(answers.counters.limited.value(), 250u - 35u);
    answers.options.queries_per_second = 0;
    EXPECT_EQ(count(neighbour()), 50);
}

TEST(IcpResponder, whoever_has_an_ipv6_network_is_one_asker) {
    Answers answers;
    answers.options.allow = {*parse_network("2001:db8::/32")};
    answers.options.queries_per_second = 10;
    int answered = 0;
    for (int i = 0; i < 50; ++i) answered += answers.ask("http://h/", *parse_ip("2001:db8::" + std::to_string(i))).has_value();
    EXPECT_EQ(answered, 10);
}

TEST(IcpResponder, the_distance_to_the_origin_is_told_to_those_who_ask_for_it) {
    Answers answers;
    answers.store("http://h/a");
    answers.origins.connected("h", microseconds{12'300}, answers.now.steady);
    auto const told = answers.ask("http://H/a", neighbour(), flag_source_rtt);
    ASSERT_TRUE(told);
    EXPECT_EQ(told->opcode, Opcode::hit);
    EXPECT_EQ(told->options, flag_source_rtt);
    EXPECT_EQ(told->option_data, 13u);
    EXPECT_EQ(answers.ask("http://h/a")->options, 0u);
    EXPECT_EQ(answers.ask("http://elsewhere/", neighbour(), flag_source_rtt)->options, 0u);
    answers.origins.connected("near", microseconds{20}, answers.now.steady);
    EXPECT_EQ(answers.ask("http://near/", neighbour(), flag_source_rtt)->option_data, 1u);
    EXPECT_EQ(answers.ask("http://near/", IpAddress::v4(192, 0, 2, 1), flag_source_rtt)->options, 0u);
    EXPECT_EQ(answers.ask("http://h/a", neighbour(), 0xc0000000)->opcode, Opcode::hit);   // never HIT_OBJ
}

TEST(IcpResponder, a_hundred_thousand_strangers_take_no_more_room_than_a_thousand) {
    Askers askers;
    auto const now = steady_now();
    for (std::uint32_t i = 0; i < 100'000; ++i) {
        auto const* asker = askers.admit(IpAddress::v4(0x0a000000 + i), 5, now + milliseconds{i});
        ASSERT_TRUE(asker);
        EXPECT_EQ(asker->queries, 1u);
        EXPECT_DOUBLE_EQ(asker->allowance, 4);
    }
    EXPECT_EQ(askers.admit(IpAddress::v4(0x0a000000 + 99'999), 5, now + seconds{100})->queries, 2u);
}

}   // namespace
}   // namespace garner::icp
