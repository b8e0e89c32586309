// Negative caching: after a failed fetch the origin is not asked for a while, and its clients are answered at once.
#include "story/scene.hpp"
#include "support/fake_dns.hpp"

namespace garner::test {

namespace {

using Clock = std::chrono::steady_clock;

std::string caching(std::string const& members) { return R"({"workers": 1, "caching": {)" + members + "}}"; }

/// Closes every connection without a response.
void dies(Origin& origin, std::string const& path) { origin.raw(path, ""); }

}   // namespace

TEST(Negative, a_refused_origin_is_left_in_peace_until_the_time_is_over) {
    auto const port = free_port();
    auto const url = "http://127.0.0.1:" + std::to_string(port) + "/page";
    Proxy proxy(caching(R"("negative_ttl": "2s")"));
    Client client(proxy);
    auto first = client.get(url);
    EXPECT_EQ(first.status(), 502);
    EXPECT_EQ(first.outcome(), "uri-miss");
    EXPECT_EQ(first.detail(), "connection") << "the failure is not a response of the origin";
    EXPECT_FALSE(first.has("Retry-After"));

    Origin origin({.port = port});
    origin.answer("/page", fresh("here"));
    auto second = client.get(url);
    EXPECT_EQ(second.status(), 502);
    EXPECT_THAT(second.body(), HasSubstr("refused"));
    EXPECT_TRUE(second.hit());
    EXPECT_EQ(second.detail(), "negative");
    EXPECT_THAT(second.cache_parameter("ttl").value_or(""), AnyOf("1", "2"));
    EXPECT_THAT(second.field("Retry-After"), AnyOf("1", "2"));
    EXPECT_EQ(second.field("Cache-Control"), "no-store");
    EXPECT_EQ(proxy.logged("/page", 2).tag, "TCP_NEGATIVE_HIT");
    EXPECT_EQ(client.head(url).status(), 502);
    EXPECT_EQ(origin.connections(), 0u);
    EXPECT_TRUE(eventually([&] { return proxy.stats()["requests"]["negative"] == 2; }));
    EXPECT_EQ(proxy.stats()["requests"]["failed"], 1);
    EXPECT_EQ(proxy.stats()["cache"]["failures"], 1);

    pause_for(2100ms);
    EXPECT_EQ(client.get(url).body(), "here");
    EXPECT_TRUE(client.get(url).hit());
    EXPECT_EQ(client.connections(), 1);
    EXPECT_EQ(proxy.stats()["cache"]["failures"], 0);
}

TEST(Negative, a_refused_origin_that_returns_is_found_within_seconds_after_any_outage) {
    auto const port = free_port();
    auto const url = "http://127.0.0.1:" + std::to_string(port) + "/page";
    Proxy proxy(caching(R"("negative_first": "1s")"));
    auto const until = Clock::now() + 4s;
    while (Clock::now() < until) {
        EXPECT_EQ(Client(proxy).get(url).status(), 502);
        pause_for(200ms);
    }
    Origin origin({.port = port});
    origin.answer("/page", fresh("here"));
    auto const back = Clock::now();
    EXPECT_TRUE(eventually([&] { return Client(proxy).get(url).status() == 200; }, Millis{10'000}));
    EXPECT_LT(Clock::now() - back, 1500ms);
}

TEST(Negative, a_long_poll_that_got_nothing_asks_the_origin_again) {
    Origin origin;
    auto silent = origin.hold("/poll");
    Proxy proxy(R"({"deadlines": {"first_byte": "1s"}})");
    for (int i = 2; i < 4; ++i) {   // two clients meet it
        Client client(proxy, origin);
        client.from("127.0.0." + std::to_string(i));
        EXPECT_EQ(client.get("/poll").status(), 504);
    }
    origin.answer("/poll", no_store("event"));
    EXPECT_EQ(get(proxy, origin, "/poll").body(), "event");
    EXPECT_EQ(origin.requests("/poll"), 3u);
}

TEST(Negative, an_origin_that_does_not_answer_is_waited_for_once_if_a_stale_response_is_stored) {
    Origin origin;
    Proxy proxy(R"({"workers": 1, "deadlines": {"first_byte": "1s"}})");
    origin.answer("/page", {.fields = {{"Cache-Control", "max-age=1"}, {"Age", "5"}, {"ETag", R"("a")"}}, .body = "old"});
    EXPECT_EQ(get(proxy, origin, "/page").body(), "old");
    auto silent = origin.hold("/page");
    EXPECT_EQ(get(proxy, origin, "/page").body(), "old");
    auto const begun = Clock::now();
    EXPECT_EQ(get(proxy, origin, "/page").detail(), "origin unreachable, remembered");
    EXPECT_LT(Clock::now() - begun, 800ms);
}

TEST(Negative, no_answer_and_a_senseless_one_are_remembered) {
    Origin origin;
    Proxy proxy;
    origin.raw("/closed", "");
    origin.raw("/nonsense", "nonsense\r\n\r\n");
    origin.raw("/switches", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n");
    for (auto path : {"/closed", "/nonsense", "/switches"}) {
        EXPECT_EQ(get(proxy, origin, path).status(), 502) << path;
        auto second = get(proxy, origin, path);
        EXPECT_EQ(second.status(), 502) << path;
        EXPECT_EQ(second.detail(), "negative") << path;
        EXPECT_EQ(origin.requests(path), 1u) << path;
    }
    auto held = origin.hold("/reset");
    auto first = get(proxy, origin, "/reset");
    held.reset();
    EXPECT_EQ(first.status(), 502);
    EXPECT_EQ(get(proxy, origin, "/reset").detail(), "negative");
    EXPECT_EQ(get(proxy, origin, "/other").status(), 404) << "another address of the same origin";
}

TEST(Negative, the_time_is_short_at_first_or_flat_as_the_operator_says) {
    Origin origin;
    dies(origin, "/page");
    Proxy shortly;
    Proxy flat(R"({"caching": {"negative_backoff": false}})");
    get(shortly, origin, "/page").body();
    get(flat, origin, "/page").body();
    EXPECT_THAT(get(shortly, origin, "/page").field("Retry-After"), AnyOf("3", "2"));
    EXPECT_THAT(get(flat, origin, "/page").field("Retry-After"), AnyOf("30", "29"));
}

TEST(Negative, a_failure_that_cost_no_wait_is_never_remembered_longer) {
    Origin origin;
    dies(origin, "/page");
    Proxy proxy(caching(R"("negative_first": "1s", "rules": [{"url_contains": ["/page"], "negative_ttl": "8s"}])"));
    get(proxy, origin, "/page").body();
    pause_for(1100ms);
    EXPECT_NE(get(proxy, origin, "/page").detail(), "negative");
    EXPECT_EQ(get(proxy, origin, "/page").field("Retry-After"), "1");
}

TEST(Negative, a_reload_asks_again_and_forgets) {
    Origin origin;
    Proxy proxy;
    dies(origin, "/page");
    EXPECT_EQ(get(proxy, origin, "/page").status(), 502);
    for (Fields reload : {Fields{{"Cache-Control", "no-cache"}}, {{"Cache-Control", "max-age=0"}}, {{"Pragma", "no-cache"}}}) {
        auto const before = origin.requests("/page");
        EXPECT_EQ(get(proxy, origin, "/page", reload).status(), 502);
        EXPECT_EQ(origin.requests("/page"), before + 1);
        EXPECT_EQ(get(proxy, origin, "/page").detail(), "negative") << "the failure of the reload is remembered, too";
    }
    origin.answer("/page", no_store("back"));
    EXPECT_EQ(get(proxy, origin, "/page").status(), 502);
    EXPECT_EQ(get(proxy, origin, "/page", {{"Cache-Control", "no-cache"}}).body(), "back");
    EXPECT_EQ(get(proxy, origin, "/page").body(), "back");
}

TEST(Negative, a_purge_forgets) {
    Origin origin;
    Proxy proxy;
    dies(origin, "/page");
    EXPECT_EQ(get(proxy, origin, "/page").status(), 502);
    origin.answer("/page", no_store("back"));
    EXPECT_EQ(get(proxy, origin, "/page").status(), 502);
    Client client(proxy, origin);
    EXPECT_EQ(client.send("PURGE", "/page").status(), 200);
    EXPECT_EQ(client.send("PURGE", "/page").status(), 404);
    EXPECT_EQ(get(proxy, origin, "/page").body(), "back");
}

TEST(Negative, what_is_stored_and_stale_comes_first_and_the_origin_is_not_asked) {
    Origin origin;
    Proxy proxy(R"({"workers": 1})");
    Fields const may{{"Cache-Control", "max-age=1"}, {"Age", "5"}, {"ETag", R"("a")"}};
    Fields const must{{"Cache-Control", "max-age=1, must-revalidate"}, {"Age", "5"}, {"ETag", R"("a")"}};
    origin.answer("/may", {.fields = may, .body = "old"});
    origin.answer("/must", {.fields = must, .body = "old"});
    for (auto path : {"/may", "/must"}) {
        EXPECT_EQ(get(proxy, origin, path).body(), "old");
        dies(origin, path);
    }
    EXPECT_EQ(get(proxy, origin, "/may").detail(), "origin unreachable");
    auto const asked = origin.requests("/may");
    auto again = get(proxy, origin, "/may");
    EXPECT_EQ(again.body(), "old");
    EXPECT_TRUE(again.hit());
    EXPECT_EQ(again.detail(), "origin unreachable, remembered");
    EXPECT_GE(again.age().value_or(0), 5);
    EXPECT_EQ(proxy.logged("/may", 3).tag, "TCP_REFRESH_FAIL_OLD");
    EXPECT_EQ(origin.requests("/may"), asked);

    EXPECT_EQ(get(proxy, origin, "/must").status(), 502);
    auto const asked_too = origin.requests("/must");
    auto refused = get(proxy, origin, "/must");
    EXPECT_EQ(refused.status(), 502);
    EXPECT_EQ(refused.detail(), "negative");
    EXPECT_EQ(origin.requests("/must"), asked_too);
}

TEST(Negative, a_rule_has_its_own_time_and_0s_switches_it_off) {
    Origin origin;
    Proxy proxy(caching(R"("rules": [{"url_contains": ["/never"], "negative_ttl": "0s"},
                                     {"url_contains": ["/short"], "negative_ttl": "1s"}])"));
    for (auto path : {"/never", "/short", "/other"}) {
        dies(origin, path);
        get(proxy, origin, path).body();
    }
    EXPECT_NE(get(proxy, origin, "/never").detail(), "negative");
    EXPECT_EQ(origin.requests("/never"), 2u);
    pause_for(1100ms);
    EXPECT_NE(get(proxy, origin, "/short").detail(), "negative");
    EXPECT_EQ(get(proxy, origin, "/other").detail(), "negative");
}

TEST(Negative, a_rule_keeps_error_answers_that_say_nothing) {
    Origin origin;
    Proxy proxy(caching(R"("rules": [{"url_contains": ["/kept/"], "negative_ttl": "2s"}])"));
    for (auto path : {"/kept/404", "/else/404"}) origin.answer(path, {.status = 404, .body = "gone"});
    origin.answer("/kept/503", {.status = 503, .body = "busy"});
    origin.answer("/kept/401", {.status = 401, .fields = {{"WWW-Authenticate", "Basic"}}, .body = "who?"});
    origin.answer("/kept/no-store", {.status = 404, .fields = {{"Cache-Control", "no-store"}}, .body = "gone"});
    EXPECT_TRUE(get(proxy, origin, "/kept/404").stored());
    EXPECT_TRUE(get(proxy, origin, "/kept/503").stored());
    for (auto path : {"/else/404", "/kept/401", "/kept/no-store"}) {
        EXPECT_FALSE(get(proxy, origin, path).stored()) << path;
        EXPECT_FALSE(get(proxy, origin, path).hit()) << path;
    }
    auto gone = get(proxy, origin, "/kept/404");
    EXPECT_EQ(gone.status(), 404);
    EXPECT_EQ(gone.body(), "gone");
    EXPECT_TRUE(gone.hit());
    EXPECT_EQ(gone.detail(), "negative");
    EXPECT_TRUE(gone.age());
    auto const logged = proxy.logged("/kept/404", 2);
    EXPECT_EQ(logged.tag, "TCP_NEGATIVE_HIT");
    EXPECT_EQ(logged.all["reason"], "negative") << "RFC 9111 4.2.2 allows a heuristic lifetime for this status";
    auto busy = get(proxy, origin, "/kept/503");
    EXPECT_EQ(busy.status(), 503);
    EXPECT_TRUE(busy.hit());
    EXPECT_EQ(busy.detail(), "rule: negative_ttl") << "RFC 9111 4.2.2 allows no heuristic lifetime for this status";
    EXPECT_EQ(proxy.logged("/kept/503", 2).all["reason"], "rule: negative_ttl");
    EXPECT_TRUE(eventually([&] { return proxy.stats()["requests"]["negative"] == 2; }));
    EXPECT_EQ(proxy.stats()["requests"]["hit"], 0);

    pause_for(3000ms);
    EXPECT_FALSE(get(proxy, origin, "/kept/404").hit());
    dies(origin, "/kept/503");
    EXPECT_EQ(get(proxy, origin, "/kept/503").status(), 502) << "an old error hides no new one";
}

TEST(Negative, all_who_wait_for_a_fetch_that_fails_hear_of_it_and_it_counts_once) {
    Origin origin;
    auto held = origin.hold("/page");
    Proxy proxy;
    Client clients[] = {{proxy, origin}, {proxy, origin}, {proxy, origin}};
    std::vector<Reply> replies;
    for (auto& client : clients) replies.push_back(client.get("/page"));
    held.arrived();
    pause_for(300ms);
    held.close();
    for (auto& reply : replies) EXPECT_EQ(reply.status(), 502);
    EXPECT_THAT(get(proxy, origin, "/page").field("Retry-After"), AnyOf("3", "2"));
    EXPECT_EQ(origin.requests("/page"), 1u);
}

TEST(Negative, what_the_rules_forbid_is_not_a_failure_of_the_origin) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    Proxy proxy(R"({"access": [{"allow": {"source": ["127.0.0.0/8"]}}]})");
    for (int i = 0; i < 2; ++i) {
        auto reply = get(proxy, origin, "/page");
        EXPECT_EQ(reply.status(), 403);
        EXPECT_NE(reply.detail(), "negative");
    }
    EXPECT_EQ(proxy.stats()["cache"]["failures"], 0);
}

TEST(Negative, a_client_that_leaves_leaves_no_failure_behind) {
    Origin origin;
    auto held = origin.hold("/page");
    Proxy proxy;
    {
        Client impatient(proxy, origin);
        impatient.get("/page");
        held.arrived();
        impatient.close();
        EXPECT_TRUE(held.nth(0).abandoned());
    }
    Client client(proxy, origin);
    auto reply = client.get("/page");
    held.nth(1).release(fresh("here"));
    EXPECT_EQ(reply.body(), "here");
}

TEST(Negative, a_kept_connection_that_died_is_none_when_the_repetition_succeeds) {
    Origin origin;
    Proxy proxy(R"({"workers": 1})");
    origin.by_hand("/page", [&](Hand& hand) {
        static std::atomic<int> turn;
        if (++turn == 2) return hand.leave();
        hand.answer(no_store("x"));
    });
    for (int i = 0; i < 4; ++i) EXPECT_EQ(get(proxy, origin, "/page").body(), "x");
    EXPECT_EQ(proxy.stats()["cache"]["failures"], 0);
    EXPECT_EQ(proxy.stats()["origin"]["retries"], 1);
}

TEST(Negative, requests_past_the_cache_neither_leave_nor_hear_of_failures) {
    Origin origin;
    Proxy proxy;
    dies(origin, "/page");
    Client client(proxy, origin);
    EXPECT_EQ(client.post("/page", "x").status(), 502);
    EXPECT_EQ(client.get("/page", {{"Cache-Control", "no-store"}}).status(), 502);
    EXPECT_EQ(proxy.stats()["cache"]["failures"], 0);
    EXPECT_EQ(client.get("/page").status(), 502);
    EXPECT_EQ(client.get("/page").detail(), "negative");
    origin.answer("/page", no_store("x"));
    EXPECT_EQ(client.get("/page", {{"Cache-Control", "no-store"}}).status(), 200);
    EXPECT_EQ(client.post("/page", "x").status(), 200);
    EXPECT_EQ(client.get("/page").status(), 200) << "a successful POST removes the negative entry of the URL";
}

TEST(Negative, what_one_clients_own_fields_or_HEAD_may_have_broken_is_not_told_to_others) {
    Origin origin;
    Proxy proxy;
    origin.by_hand("/page", [](Hand& hand) {
        auto const& head = hand.request().head;
        if (head.has("Authorization") || head.has("Range") || head.method() == "HEAD") return hand.leave();
        hand.answer(no_store("x"));
    });
    Client client(proxy, origin);
    EXPECT_EQ(client.get("/page", {{"Authorization", "Basic eDp5"}}).status(), 502);
    EXPECT_EQ(client.get("/page", {{"Range", "bytes=0-1"}}).status(), 502);
    EXPECT_EQ(proxy.stats()["cache"]["failures"], 0);
    EXPECT_EQ(client.head("/page").status(), 502);
    EXPECT_EQ(client.head("/page").detail(), "negative");
    EXPECT_EQ(client.get("/page").body(), "x");
}

TEST(Negative, a_name_that_does_not_exist_is_asked_for_once_and_again_by_a_reload) {
    FakeDns dns;
    Proxy proxy(R"({"workers": 1, "dns": {"servers": [")" + dns.server() + R"("]}})");
    Client client(proxy);
    auto const url = "http://nobody.example/page";
    auto const page_without_id = [&] {
        auto const page = client.get(url).body();
        return page.substr(0, page.find("Request id"));
    };
    auto const first = page_without_id();
    EXPECT_THAT(first, HasSubstr("no such host"));
    auto const questions = [&] { return dns.queries("nobody.example").udp; };
    auto const asked = questions();
    EXPECT_GT(asked, 0);
    EXPECT_EQ(page_without_id(), first);
    EXPECT_EQ(questions(), asked);
    EXPECT_EQ(client.get(url, {{"Cache-Control", "no-cache"}}).status(), 502);
    EXPECT_GT(questions(), asked);
}

}   // namespace garner::test
