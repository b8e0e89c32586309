// If one client's request makes the origin fail, no other client gets that failure.
#include "hostile/hostile.hpp"

namespace garner::test {

namespace {

/// Closes the connection on every request with this field, and answers all others.
void hangs_up_on(Origin& origin, std::string const& path, std::string const& field) {
    origin.by_hand(path, [field](Hand& hand) {
        if (hand.request().head.has(field)) return hand.leave();
        hand.answer(no_store("page"));
    });
}

/// The attacker's fetch ends in `fail`, and the victim that joined it still gets its page.
void expect_follower_to_lead_after(std::function<void(Held&)> const& fail, int status) {
    Origin origin;
    Proxy proxy;
    auto held = origin.hold("/page");
    Client attacker(proxy, origin), victim(proxy, origin);
    auto failed = attacker.get("/page", {{"X-Evil", "yes"}});
    held.arrived();
    auto page = victim.get("/page");
    EXPECT_TRUE(eventually([&] { return proxy.stats()["cache"]["followers"] == 1; }));
    fail(held);
    EXPECT_EQ(failed.status(), status);
    held.nth(1).release(fresh("page"));
    EXPECT_EQ(page.body(), "page");
}

}   // namespace

TEST(NegativePoisoning, a_field_that_makes_the_origin_hang_up_harms_its_sender_alone) {
    Origin origin;
    Proxy proxy;
    Client attacker(proxy, origin), victim(proxy, origin);
    Fields const evil[] = {
        {{"X-Evil", "close"}}, {{"Cookie", std::string(9'000, 'c')}}, {{"User-Agent", "evil"}}, {{"Accept", "evil"}}};
    int number = 0;
    for (auto const& fields : evil) {
        auto const path = "/" + std::to_string(number++);
        origin.by_hand(path, [&fields](Hand& hand) {
            if (hand.request().head.field(fields.front().first) == fields.front().second) return hand.leave();
            hand.answer(no_store("page"));
        });
        for (int i = 0; i < 3; ++i) {
            EXPECT_EQ(attacker.get(path, fields).status(), 502) << fields.front().first;
            EXPECT_EQ(victim.get(path).body(), "page") << fields.front().first;
        }
    }
}

TEST(NegativePoisoning, a_client_that_repeats_its_request_is_told_of_its_failure_and_the_origin_is_not_asked) {
    Origin origin;
    Proxy proxy;
    hangs_up_on(origin, "/page", "X-Evil");
    Client client(proxy, origin);
    EXPECT_EQ(client.get("/page", {{"X-Evil", "yes"}}).outcome(), "uri-miss");
    auto const again = client.get("/page", {{"X-Evil", "yes"}});
    EXPECT_EQ(again.status(), 502);
    EXPECT_EQ(again.detail(), "negative");
    EXPECT_EQ(origin.requests("/page"), 1u);
}

TEST(NegativePoisoning, followers_are_told_of_an_error_once_two_clients_have_met_it) {
    Origin origin;
    Proxy proxy;
    auto held = origin.hold("/page");
    std::vector<std::unique_ptr<Client>> clients;
    std::vector<Reply> replies;
    for (int i = 2; i < 10; ++i) {
        clients.push_back(std::make_unique<Client>(proxy, origin));
        clients.back()->from("127.0.0." + std::to_string(i));
        replies.push_back(clients.back()->get("/page", {{"Cookie", "client=" + std::to_string(i)}}));
        if (i == 2) held.arrived();
    }
    EXPECT_TRUE(eventually([&] { return proxy.stats()["cache"]["followers"] == 7; }));
    held.release({.status = 503, .body = "busy"});
    held.nth(1).release({.status = 503, .body = "busy"});
    for (auto const& reply : replies) EXPECT_EQ(reply.status(), 503);
    EXPECT_EQ(origin.requests("/page"), 2u);
}

TEST(NegativePoisoning, two_clients_that_provoke_a_failure_again_and_again_do_not_make_it_last) {
    Origin origin;
    Proxy proxy(R"({"caching": {"negative_first": "1s", "negative_ttl": "1h"}})");
    hangs_up_on(origin, "/page", "X-Evil");
    Client first(proxy, origin), second(proxy, origin), victim(proxy, origin);
    first.from("127.0.0.2"), second.from("127.0.0.3");
    for (int round = 0; round < 3; ++round) {
        EXPECT_EQ(first.get("/page", {{"X-Evil", "yes"}}).status(), 502);
        EXPECT_EQ(second.get("/page", {{"X-Evil", "yes"}}).status(), 502);
        auto const told = victim.get("/page");
        if (told.status() == 502) {
            EXPECT_EQ(told.field("Retry-After"), "1");
        }
        EXPECT_TRUE(eventually([&] { return victim.get("/page").status() == 200; }, Millis{5'000}));
    }
}

namespace {

/// The attacker reloads /page with a field to which the origin answers `evil`. Returns how many of 48 victims get that.
int victims_of(Proxy& proxy, Answer const& evil, std::string const& directive) {
    Origin origin;
    origin.by_hand("/page", [&evil](Hand& hand) { hand.answer(hand.request().head.has("X-Evil") ? evil : fresh("page")); });
    Client attacker(proxy, origin), victim(proxy, origin);
    attacker.from("127.0.0.2");
    EXPECT_EQ(victim.get("/page").body(), "page");
    int count = 0;
    for (int i = 0; i < 48; ++i) {
        if (i % 4 == 0) {
            EXPECT_EQ(attacker.get("/page", {{"Cache-Control", directive}, {"X-Evil", "yes"}}).status(), evil.status);
        }
        count += victim.get("/page").body() != "page";
    }
    EXPECT_LE(origin.requests("/page"), 1u + 12 + 12) << "the stored page answers all but the first victim after each attack";
    return count;
}

}   // namespace

TEST(NegativePoisoning, a_reload_that_provokes_an_error_or_a_redirect_replaces_no_stored_page) {
    Proxy proxy;
    Fields const lasting{{"Cache-Control", "max-age=600"}}, kept{{"Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"}};
    Fields const elsewhere{{"Location", "http://evil.example/"}, {"Cache-Control", "max-age=600"}};
    for (auto const& evil :
         {Answer{.status = 404, .fields = lasting, .body = "gone"}, Answer{.status = 410, .fields = kept, .body = "gone"},
          Answer{.status = 301, .fields = elsewhere}, Answer{.status = 308, .fields = elsewhere},
          Answer{.status = 500, .fields = lasting, .body = "crashed"},
          Answer{.status = 404, .fields = {{"Cache-Control", "no-store"}}, .body = "gone"}})
        for (auto const* directive : {"no-cache", "max-age=0", "no-cache, max-age=0"})
            EXPECT_EQ(victims_of(proxy, evil, directive), 0) << evil.status << ", " << directive;
}

TEST(NegativePoisoning, a_page_that_is_gone_is_gone_for_all_after_a_reload) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page", {fresh("page"), Answer{.status = 404, .fields = {{"Cache-Control", "max-age=600"}}, .body = "gone"}});
    Client first(proxy, origin), second(proxy, origin);
    EXPECT_EQ(first.get("/page").body(), "page");
    auto const reload = first.get("/page", {{"Cache-Control", "no-cache"}});
    EXPECT_EQ(reload.body(), "gone");
    EXPECT_EQ(reload.detail(), "provoked by a reload");
    EXPECT_EQ(second.get("/page").body(), "gone") << "the page was not served again";
    EXPECT_TRUE(second.get("/page").hit()) << "a request without a directive has stored that it is gone";
    EXPECT_EQ(origin.requests("/page"), 3u);
}

TEST(NegativePoisoning, a_redirect_without_a_lifetime_is_served_to_others_for_a_minute_at_most) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page", {.status = 301,
                            .fields = {{"Location", "http://evil.example/"}, {"Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"}}});
    EXPECT_EQ(Client(proxy, origin).get("/page").status(), 301);
    auto const told = Client(proxy, origin).get("/page").field("Cache-Status");
    auto const ttl = told.find("ttl=");
    ASSERT_NE(ttl, std::string::npos) << told;
    EXPECT_LE(std::stoi(told.substr(ttl + 4)), 60) << told;
}

TEST(NegativePoisoning, a_reload_leaves_no_failure_of_an_answer_behind) {
    Origin origin;
    Proxy proxy;
    hangs_up_on(origin, "/page", "Cache-Control");
    Client attacker(proxy, origin), victim(proxy, origin);
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(attacker.get("/page", {{"Cache-Control", "no-cache"}}).status(), 502);
        EXPECT_EQ(victim.get("/page").body(), "page");
    }
}

TEST(NegativePoisoning, a_follower_leads_when_the_leaders_own_request_may_be_what_failed) {
    expect_follower_to_lead_after([](Held& held) { held.close(); }, 502);
}

TEST(NegativePoisoning, an_error_that_the_leaders_own_request_may_cause_is_not_its_followers) {
    expect_follower_to_lead_after([](Held& held) { held.release({.status = 500, .body = "crashed"}); }, 500);
}

}   // namespace garner::test
