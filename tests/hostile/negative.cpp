// One client's own request makes the origin fail: no other client is told of that failure.
#include "hostile/hostile.hpp"

namespace garner::test {

namespace {

/// Hangs up on every request that has this field, and answers all others.
void hangs_up_on(Origin& origin, std::string const& path, std::string const& field) {
    origin.by_hand(path, [field](Hand& hand) {
        if (hand.request().head.has(field)) return hand.leave();
        hand.answer(no_store("page"));
    });
}

}  // namespace

TEST(NegativePoisoning, a_field_that_makes_the_origin_hang_up_harms_its_sender_alone) {
    Origin origin;
    Proxy proxy;
    Client attacker(proxy, origin), victim(proxy, origin);
    Fields const evil[] = {{{"X-Evil", "close"}}, {{"Cookie", std::string(9'000, 'c')}}, {{"User-Agent", std::string(9'000, 'u')}}};
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
    Origin origin;
    Proxy proxy;
    auto held = origin.hold("/page");
    Client attacker(proxy, origin), victim(proxy, origin);
    auto failed = attacker.get("/page", {{"X-Evil", "close"}});
    held.arrived();
    auto page = victim.get("/page");
    EXPECT_TRUE(eventually([&] { return proxy.stats()["cache"]["followers"] == 1; }));
    held.close();
    EXPECT_EQ(failed.status(), 502);
    held.nth(1).release(fresh("page"));
    EXPECT_EQ(page.body(), "page");
}

TEST(NegativePoisoning, an_error_that_the_leaders_own_request_may_cause_is_not_its_followers) {
    Origin origin;
    Proxy proxy;
    auto held = origin.hold("/page");
    Client attacker(proxy, origin), victim(proxy, origin);
    auto failed = attacker.get("/page", {{"X-Evil", "crash"}});
    held.arrived();
    auto page = victim.get("/page");
    EXPECT_TRUE(eventually([&] { return proxy.stats()["cache"]["followers"] == 1; }));
    held.release({.status = 500, .body = "crashed"});
    EXPECT_EQ(failed.status(), 500);
    held.nth(1).release(fresh("page"));
    EXPECT_EQ(page.body(), "page");
}

}  // namespace garner::test
