// HTCP replies to other caches, by stored objects, by client address, and by signature.
#include "icp/htcp_responder.hpp"

#include <gtest/gtest.h>

#include "cache/scene.hpp"

namespace garner::icp {
namespace {

using HtcpMessage = htcp::Message;
using htcp::Refusal;

IpAddress const friendly = IpAddress::v4(10, 0, 0, 1);
IpAddress const stranger = IpAddress::v4(192, 0, 2, 1);

/// A received and parsed reply.
struct Received : HtcpMessage {
    explicit Received(std::string datagram) : text(std::move(datagram)), given(!text.empty()) {
        if (given) EXPECT_EQ(htcp::parse(text, *this), nullptr);
    }
    Received(Received const&) = delete;
    std::string const text;
    bool const given;
    bool is(Refusal refusal) const { return given && flag && code == static_cast<std::uint8_t>(refusal); }
    bool says(std::uint8_t what) const { return given && !flag && code == what; }
};

struct HtcpResponding : ::testing::Test {
    HtcpResponding() {
        options.htcp.allow = {*parse_network("10.0.0.0/8")};
        options.htcp.clear_allow = {*parse_network("10.0.0.1")};
    }

    Received send(std::string message, IpAddress const& from = friendly, std::string_view secret = {}, WallTime when = now) {
        htcp::seal(message, secret, when);
        HtcpMessage request;
        EXPECT_EQ(htcp::parse(message, request), nullptr);
        return Received(responder.answer(request, from, options, now));
    }
    Received test(std::string_view url, IpAddress const& from = friendly) { return send(htcp::tst_request(7, url), from); }
    Received clear(std::string_view url, IpAddress const& from = friendly) { return send(htcp::clr_request(7, url), from); }

    void store(std::string const& url, cache::Answer answer = {}) {
        answer.request.now = now;
        scene.store("f" + url, answer);
    }
    bool stored(std::string const& url) { return scene.stored("f" + url, {.now = now}) != "-"; }

    static inline WallTime const now = wall_now();
    std::string const url = "http://a.example/page";
    cache::Scene scene;
    OriginTimes origins;
    AgentCounters counters;
    Options options;
    ReplayGuard replays{seconds{120}};
    HtcpResponder responder{scene.cache, origins, replays, counters};
};

TEST_F(HtcpResponding, what_is_fresh_is_a_hit_and_described) {
    store(url, {.body = "hello"});
    auto const reply = test(url);
    EXPECT_TRUE(reply.is_response);
    EXPECT_TRUE(reply.says(htcp::response::done));
    EXPECT_EQ(reply.number, 7u);
    EXPECT_EQ(reply.opcode, htcp::Opcode::tst);
    auto const news = htcp::news_of(reply.detail);
    EXPECT_EQ(news.size, 5u);
    EXPECT_EQ(news.age, 0);
    EXPECT_EQ(news.source_rtt, std::nullopt);
    EXPECT_EQ(counters.hits.value(), 1u);
}

TEST_F(HtcpResponding, what_is_not_there_or_goes_stale_within_ten_seconds_is_a_miss) {
    EXPECT_TRUE(test(url).says(htcp::response::not_here));
    EXPECT_EQ(test(url).detail.response, "");
    store(url, {.lifetime = 9});
    EXPECT_TRUE(test(url).says(htcp::response::not_here));
    store("http://a.example/longer", {.lifetime = 12});
    EXPECT_TRUE(test("http://a.example/longer").says(htcp::response::done));
    EXPECT_EQ(counters.misses.value(), 3u);
    EXPECT_EQ(counters.queries.value(), 4u);
}

TEST_F(HtcpResponding, a_URL_is_compared_in_normal_form) {
    store(url);
    EXPECT_TRUE(test("HTTP://A.example:80/page").says(htcp::response::done));
    EXPECT_TRUE(test("nonsense").says(htcp::response::not_here));
    EXPECT_EQ(counters.errors.value(), 1u);
}

TEST_F(HtcpResponding, hits_and_misses_tell_how_far_the_origin_is) {
    origins.connected("a.example", microseconds{12'300}, steady_now());
    store(url);
    EXPECT_EQ(htcp::news_of(test(url).detail).source_rtt, milliseconds{13});
    EXPECT_EQ(htcp::news_of(test("http://a.example/other").detail).source_rtt, milliseconds{13});
}

TEST_F(HtcpResponding, a_purge_takes_it_away_and_says_whether_it_was_there) {
    store(url);
    EXPECT_TRUE(clear(url).says(htcp::response::done));
    EXPECT_FALSE(stored(url));
    EXPECT_TRUE(clear(url).says(htcp::response::was_not_here));
    EXPECT_EQ(counters.cleared.value(), 2u);
}

TEST_F(HtcpResponding, an_accelerators_objects_go_too) {
    scene.store("a" + url, {.request = {.now = now}});
    EXPECT_TRUE(clear(url).says(htcp::response::done));
    EXPECT_EQ(scene.stored("a" + url, {.now = now}), "-");
}

TEST_F(HtcpResponding, a_purge_that_wants_no_answer_gets_none_and_happens) {
    store(url);
    auto message = htcp::clr_request(7, url);
    message[7] = 0;   // RD
    EXPECT_FALSE(send(message).given);
    EXPECT_FALSE(stored(url));
}

TEST_F(HtcpResponding, who_is_not_allowed_is_told_and_changes_nothing) {
    store(url);
    EXPECT_TRUE(test(url, stranger).is(Refusal::not_allowed));
    EXPECT_TRUE(clear(url, stranger).is(Refusal::not_allowed));
    EXPECT_TRUE(clear(url, IpAddress::v4(10, 0, 0, 2)).is(Refusal::not_allowed));   // may query but not purge
    EXPECT_TRUE(test(url, IpAddress::v4(10, 0, 0, 2)).says(htcp::response::done));
    EXPECT_TRUE(stored(url));
    EXPECT_EQ(counters.denied.value(), 1u);
    EXPECT_EQ(counters.refused_clears.value(), 2u);
}

TEST_F(HtcpResponding, nobody_may_anything_without_lists) {
    options.htcp.allow = options.htcp.clear_allow = {};
    store(url);
    EXPECT_TRUE(test(url).is(Refusal::not_allowed));
    EXPECT_TRUE(clear(url).is(Refusal::not_allowed));
}

TEST_F(HtcpResponding, questions_beyond_the_rate_get_no_answer_and_purges_always_do) {
    options.queries_per_second = 2;
    int answered = 0;
    for (int i = 0; i < 10; ++i) answered += test(url).given;
    EXPECT_LE(answered, 3);
    EXPECT_GE(counters.limited.value(), 7u);
    EXPECT_TRUE(clear(url).given);
}

TEST_F(HtcpResponding, NOP_is_answered_where_wanted_and_MON_and_SET_never) {
    HtcpMessage request;
    request.flag = true;
    EXPECT_TRUE(Received(responder.answer(request, friendly, options, now)).says(htcp::response::done));
    request.flag = false;
    EXPECT_EQ(responder.answer(request, friendly, options, now), "");
    request.flag = true;
    for (auto opcode : {htcp::Opcode::mon, htcp::Opcode::set}) {
        request.opcode = opcode;
        EXPECT_EQ(responder.answer(request, friendly, options, now), "");
    }
}

TEST_F(HtcpResponding, a_copy_of_a_signed_purge_purges_nothing) {
    options.htcp.secret = "secret";
    store(url);
    EXPECT_TRUE(send(htcp::clr_request(7, url), friendly, "secret").given);
    EXPECT_FALSE(stored(url));
    store(url);
    EXPECT_TRUE(send(htcp::clr_request(7, url), friendly, "secret").given) << "a sender without a reply repeats its message";
    EXPECT_TRUE(stored(url));
    EXPECT_TRUE(send(htcp::clr_request(8, url), friendly, "secret").given);
    EXPECT_FALSE(stored(url));
}

TEST(ReplayGuard, forgets_what_would_not_be_believed_any_more_and_the_oldest_when_full) {
    auto const now = wall_now();
    ReplayGuard guard(seconds{10}, 2);
    EXPECT_TRUE(guard.is_first("a", now));
    EXPECT_FALSE(guard.is_first("a", now + seconds{10}));
    EXPECT_TRUE(guard.is_first("a", now + seconds{11}));
    EXPECT_TRUE(guard.is_first("b", now + seconds{11}));
    EXPECT_TRUE(guard.is_first("c", now + seconds{11}));
    EXPECT_TRUE(guard.is_first("a", now + seconds{11}));
}

TEST_F(HtcpResponding, with_a_secret_only_signed_messages_are_heard_and_answers_are_signed) {
    options.htcp.secret = "secret";
    store(url);
    EXPECT_TRUE(clear(url).is(Refusal::unsigned_message));
    EXPECT_TRUE(send(htcp::clr_request(7, url), friendly, "other").is(Refusal::bad_signature));
    EXPECT_TRUE(send(htcp::clr_request(7, url), friendly, "secret", now - seconds{100}).is(Refusal::bad_signature));
    EXPECT_EQ(counters.refused_clears.value(), 3u);
    EXPECT_TRUE(test(url).is(Refusal::unsigned_message));
    EXPECT_EQ(counters.denied.value(), 1u);
    EXPECT_TRUE(stored(url));
    auto const reply = send(htcp::clr_request(7, url), friendly, "secret");
    EXPECT_TRUE(reply.says(htcp::response::done));
    EXPECT_EQ(htcp::judge(reply, "secret", now), htcp::Verdict::good);
    EXPECT_FALSE(stored(url));
}

TEST_F(HtcpResponding, a_refusal_of_the_unsigned_is_no_longer_than_what_it_refuses) {
    options.htcp.secret = "secret";
    HtcpMessage request;
    request.flag = true;
    EXPECT_EQ(responder.answer(request, friendly, options, now).size(), 14u);
}

}   // namespace
}   // namespace garner::icp
