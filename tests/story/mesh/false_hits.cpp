// Peers that announce a HIT and do not serve the object, and stray ICP messages: clients notice nothing.
#include "story/scene.hpp"
#include "support/fake_peer.hpp"

namespace garner::test {

namespace {

using nlohmann::json;

json entry(FakePeer& peer, std::string const& name = "liar", std::string const& type = "sibling") {
    return {{"name", name}, {"type", type}, {"host", "127.0.0.1"}, {"http_port", peer.http().port()}, {"icp_port", peer.icp()}};
}

std::string with(std::vector<json> const& peers) { return json{{"workers", 1}, {"peers", peers}}.dump(); }

std::string hierarchy(Proxy const& proxy, std::string const& path) { return proxy.logged(path).all.value("hierarchy", ""); }

struct FalseHits : ::testing::Test {
    Origin origin;
    FakePeer liar{Icp::hit};
    FalseHits() {
        origin.otherwise([](Hand& hand) { hand.answer(fresh("of the origin")); });
    }

    /// A GET through a proxy that has the liar as a sibling, which is queried once.
    ::testing::AssertionResult origin_answers(Proxy const& proxy, Millis within = Millis{1'500}) {
        auto reply = get(proxy, origin, "/page");
        if (!reply.ends_within(within)) return ::testing::AssertionFailure() << "no response within " << within.count() << " ms";
        bool const is_whole = reply.status() == 200 && reply.body() == "of the origin" && reply.complete();
        if (!is_whole) return ::testing::AssertionFailure() << reply.status() << " " << reply.body() << " " << reply.trouble();
        if (liar.queries() == 1u) return ::testing::AssertionSuccess();
        return ::testing::AssertionFailure() << liar.queries() << " queries to the sibling";
    }
};

}   // namespace

TEST_F(FalseHits, a_504_is_passed_over_and_not_stored) {
    liar.http().otherwise([](Hand& hand) { hand.answer({.status = 504, .fields = {{"Cache-Control", "max-age=60"}}}); });
    Proxy proxy(with({entry(liar)}));
    EXPECT_TRUE(origin_answers(proxy));
    EXPECT_EQ(liar.http().last("/page").head.field("Cache-Control"), "only-if-cached");
    EXPECT_EQ(hierarchy(proxy, "/page"), "HIER_DIRECT");
    EXPECT_TRUE(get(proxy, origin, "/page").hit());
}

TEST_F(FalseHits, errors_of_the_sibling_are_passed_over) {
    for (int status : {400, 403, 407, 500, 502, 503}) {
        liar.http().otherwise([status](Hand& hand) { hand.answer({.status = status, .body = "no"}); });
        Proxy proxy(with({entry(liar)}));
        auto reply = get(proxy, origin, "/page");
        // A 400 may be the stored response of the origin.
        if (status != 400) EXPECT_EQ(reply.body(), "of the origin") << status;
    }
}

TEST_F(FalseHits, a_sibling_that_hangs_up_is_passed_over) {
    liar.http().otherwise([](Hand& hand) { hand.leave(); });
    Proxy proxy(with({entry(liar)}));
    EXPECT_TRUE(origin_answers(proxy));
}

TEST_F(FalseHits, a_sibling_that_resets_is_passed_over) {
    liar.http().otherwise([](Hand& hand) {
        hand.wire().reset_at_close();
        hand.leave();
    });
    Proxy proxy(with({entry(liar)}));
    EXPECT_TRUE(origin_answers(proxy));
}

TEST_F(FalseHits, a_sibling_that_speaks_no_HTTP_is_passed_over) {
    liar.http().otherwise([](Hand& hand) {
        hand.send("220 mail.test ESMTP\r\n");
        hand.leave();
    });
    Proxy proxy(with({entry(liar)}));
    EXPECT_TRUE(origin_answers(proxy));
}

TEST_F(FalseHits, a_sibling_whose_HTTP_port_is_closed_is_passed_over) {
    auto closed = entry(liar);
    closed["http_port"] = free_port();
    Proxy proxy(with({closed}));
    auto reply = get(proxy, origin, "/page");
    EXPECT_EQ(reply.status(), 200);
    EXPECT_EQ(reply.body(), "of the origin");
}

TEST_F(FalseHits, a_stale_answer_is_passed_over) {
    liar.http().otherwise([](Hand& hand) { hand.answer(fresh("old", 60, {{"Age", "100"}})); });
    Proxy proxy(with({entry(liar)}));
    EXPECT_TRUE(origin_answers(proxy));
}

TEST_F(FalseHits, another_sibling_that_has_it_goes_before_the_origin) {
    FakePeer friendly;
    liar.says(Icp::miss);
    auto heavy = entry(liar);
    heavy["weight"] = 1'000;   // awaited once its reply time is known, and preferred
    Proxy proxy(with({entry(friendly, "friend"), heavy}));
    for (int i = 0; i < 5; ++i) EXPECT_EQ(get(proxy, origin, "/known/" + std::to_string(i)).body(), "of the origin");
    liar.http().otherwise([](Hand& hand) { hand.answer({.status = 504}); });
    friendly.http().otherwise([](Hand& hand) { hand.answer(fresh("of the sibling")); });
    liar.says(Icp::hit);
    friendly.says(Icp::hit);
    // On a busy machine a reply may be late.
    EXPECT_TRUE(eventually([&, i = 0]() mutable {
        auto const path = "/" + std::to_string(i++);
        auto const body = get(proxy, origin, path).body();
        return liar.http().requests(path) == 1 && body == "of the sibling";
    }));
}

// ---- ICP opcodes ----

TEST_F(FalseHits, a_sibling_that_denies_or_errs_or_may_not_fetch_is_not_used) {
    for (auto word : {Icp::miss, Icp::denied, Icp::error, Icp::miss_nofetch}) {
        liar.says(word);
        Proxy proxy(with({entry(liar)}));
        EXPECT_EQ(get(proxy, origin, "/page").body(), "of the origin");
    }
    EXPECT_EQ(liar.queries(), 4u);
    EXPECT_EQ(liar.http().connections(), 0u);
}

TEST_F(FalseHits, a_parent_that_may_not_fetch_or_denies_is_not_used) {
    for (auto word : {Icp::denied, Icp::error, Icp::miss_nofetch}) {
        liar.says(word);
        Proxy proxy(with({entry(liar, "liar", "parent")}));
        EXPECT_EQ(get(proxy, origin, "/page").body(), "of the origin");
    }
}

TEST_F(FalseHits, a_HIT_under_another_number_counts_for_nothing) {
    liar.http().otherwise([](Hand& hand) { hand.answer(fresh("poison")); });
    liar.says([](IcpDatagram query) {
        std::vector<std::string> answers;
        for (auto number : {0u, query.number + 1, query.number - 1, query.number ^ 0x400000u, ~query.number}) {
            auto const wrong = IcpDatagram{.opcode = Icp::hit, .number = number, .url = query.url};
            answers.push_back(wrong.bytes());
        }
        answers.push_back(FakePeer::reply(Icp::miss, query));
        return answers;
    });
    Proxy proxy(with({entry(liar)}));
    EXPECT_TRUE(origin_answers(proxy));
    EXPECT_EQ(liar.http().connections(), 0u);
}

TEST_F(FalseHits, a_HIT_from_another_port_counts_for_nothing) {
    auto const ours = free_port();
    liar.http().otherwise([](Hand& hand) { hand.answer(fresh("poison")); });
    liar.says([&](IcpDatagram const& query) {
        send_datagram(FakePeer::reply(Icp::hit, query), ours);
        return std::vector{FakePeer::reply(Icp::miss, query)};
    });
    auto patch = json::parse(with({entry(liar)}));
    patch["icp"]["address"] = "127.0.0.1:" + std::to_string(ours);
    Proxy proxy(patch.dump());
    EXPECT_TRUE(origin_answers(proxy));
    EXPECT_EQ(liar.http().connections(), 0u);
}

TEST_F(FalseHits, only_the_first_word_counts) {
    liar.http().otherwise([](Hand& hand) { hand.answer(fresh("poison")); });
    liar.says([](IcpDatagram const& query) {
        return std::vector{FakePeer::reply(Icp::miss, query), FakePeer::reply(Icp::hit, query)};
    });
    Proxy proxy(with({entry(liar)}));
    EXPECT_TRUE(origin_answers(proxy));
    EXPECT_EQ(liar.http().connections(), 0u);
}

TEST_F(FalseHits, rubbish_on_the_wire_harms_nothing) {
    liar.says([](IcpDatagram const& query) {
        auto const good = FakePeer::reply(Icp::miss, query);
        std::vector<std::string> answers{"", "x", std::string(20, '\0'), std::string(60'000, 'x')};
        for (std::size_t cut = 1; cut < good.size(); ++cut) answers.push_back(good.substr(0, cut));
        for (std::uint8_t version : {0, 1, 3, 255}) {
            auto other = IcpDatagram{.opcode = Icp::hit, .version = version, .number = query.number, .url = query.url};
            answers.push_back(other.bytes());
        }
        answers.push_back(good);
        return answers;
    });
    Proxy proxy(with({entry(liar)}));
    EXPECT_TRUE(origin_answers(proxy));
    EXPECT_EQ(liar.http().connections(), 0u);
}

TEST_F(FalseHits, a_HIT_that_comes_too_late_is_not_waited_for) {
    Proxy proxy(with({entry(liar)}));
    liar.says(Icp::miss);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(get(proxy, origin, "/" + std::to_string(i)).body(), "of the origin");
    liar.says([](IcpDatagram const& query) {
        pause_for(Millis{1900});
        return std::vector{FakePeer::reply(Icp::hit, query)};
    });
    auto reply = get(proxy, origin, "/page");
    EXPECT_TRUE(reply.ends_within(Millis{1500}));
    EXPECT_EQ(reply.body(), "of the origin");
    EXPECT_EQ(hierarchy(proxy, "/page"), "TIMEOUT_HIER_DIRECT");
}

}   // namespace garner::test
