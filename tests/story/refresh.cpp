// stale-while-revalidate (RFC 5861 3): the client is answered at once, and one revalidation runs in the background.
#include <atomic>

#include "story/scene.hpp"

namespace garner::test {

namespace {

/// Stale for four seconds; may be served stale for ten minutes.
Answer ageing(std::string body) {
    return {.fields = {{"Cache-Control", "max-age=1, stale-while-revalidate=600"}, {"Age", "5"}, {"ETag", R"("a")"}},
            .body = std::move(body)};
}

}   // namespace

TEST(Refresh, stale_is_answered_at_once_and_asked_for_once) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page", ageing("old"));
    get(proxy, origin, "/page").body();
    auto slow = origin.hold("/page");
    for (int i = 0; i < 5; ++i) {
        auto reply = get(proxy, origin, "/page");
        EXPECT_EQ(reply.body(), "old");
        EXPECT_TRUE(reply.hit()) << reply.field("Cache-Status");
        EXPECT_NE(reply.field("Cache-Status").find("ttl=-"), std::string::npos);
    }
    slow.arrived();
    EXPECT_EQ(slow.count(), 1u);
    EXPECT_EQ(slow.nth(0).request().head.field("If-None-Match"), R"("a")");
    slow.release("new");
    EXPECT_TRUE(eventually([&] { return get(proxy, origin, "/page").body() == "new"; }));
    EXPECT_EQ(origin.requests("/page"), 2u);
}

TEST(Refresh, a_304_makes_it_fresh_again) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page", ageing("body"));
    get(proxy, origin, "/page").body();
    origin.answer("/page", {.status = 304, .fields = {{"ETag", R"("a")"}, {"Cache-Control", "max-age=600"}}});
    EXPECT_EQ(get(proxy, origin, "/page").body(), "body");
    EXPECT_TRUE(eventually([&] {
        auto reply = get(proxy, origin, "/page");
        return reply.body() == "body" && reply.field("Cache-Status").find("ttl=-") == std::string::npos;
    }));
    EXPECT_EQ(origin.requests("/page"), 2u);
}

TEST(Refresh, an_origin_that_fails_is_not_asked_again_at_once) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page", ageing("body"));
    get(proxy, origin, "/page").body();
    origin.raw("/page", "");
    EXPECT_EQ(get(proxy, origin, "/page").body(), "body");
    EXPECT_TRUE(eventually([&] { return proxy.stats()["cache"]["failures"] == 1; }));
    auto const asked = origin.requests("/page");
    for (int i = 0; i < 20; ++i) EXPECT_EQ(get(proxy, origin, "/page").body(), "body");
    EXPECT_EQ(origin.requests("/page"), asked);
}

TEST(Refresh, a_large_body_is_replaced_whole_though_nobody_reads_it) {
    Origin origin;
    Proxy proxy;
    auto const old_film = pattern(3'000'000, 1), new_film = pattern(3'000'000, 2);
    origin.answer("/film", ageing(old_film));
    EXPECT_TRUE(get(proxy, origin, "/film").body() == old_film);
    origin.answer("/film", {.fields = {{"Cache-Control", "max-age=600"}}, .body = new_film, .delimited = Delimited::by_chunks});
    EXPECT_TRUE(get(proxy, origin, "/film").body() == old_film);
    EXPECT_TRUE(eventually([&] { return get(proxy, origin, "/film").body() == new_film; }));
    EXPECT_EQ(origin.requests("/film"), 2u);
}

TEST(Refresh, what_a_client_wants_of_one_answer_is_not_asked_of_the_origin) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page", ageing("0123456789"));
    get(proxy, origin, "/page").body();
    origin.answer("/page", fresh("abcdefghij"));
    Client client(proxy, origin);
    auto part = client.get("/page", {{"Range", "bytes=2-3"}, {"X-Kept", "yes"}});
    EXPECT_EQ(part.status(), 206);
    EXPECT_EQ(part.body(), "23");
    EXPECT_TRUE(eventually([&] { return get(proxy, origin, "/page").body() == "abcdefghij"; }));
    auto const asked = origin.last("/page");
    EXPECT_FALSE(asked.head.has("Range"));
    EXPECT_EQ(asked.head.field("X-Kept"), "yes");
    EXPECT_EQ(origin.requests("/page"), 2u);
}

TEST(Refresh, HEAD_brings_the_whole_response_behind_it) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page", ageing("old"));
    get(proxy, origin, "/page").body();
    origin.answer("/page", fresh("new"));
    EXPECT_EQ(Client(proxy, origin).head("/page").status(), 200);
    EXPECT_TRUE(eventually([&] { return get(proxy, origin, "/page").body() == "new"; }));
    EXPECT_EQ(origin.last("/page").head.method(), "GET");
}

TEST(Refresh, a_failure_behind_an_answer_harms_nobody) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page", ageing("old"));
    get(proxy, origin, "/page").body();
    origin.by_hand("/page", [](Hand& hand) { hand.leave(); });
    EXPECT_EQ(get(proxy, origin, "/page").body(), "old");
    EXPECT_TRUE(eventually([&] { return origin.requests("/page") >= 2; }));
    auto again = get(proxy, origin, "/page");
    EXPECT_EQ(again.body(), "old");
    EXPECT_TRUE(again.hit());
}

TEST(Refresh, a_reload_that_fails_says_that_a_stored_copy_exists) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page", fresh("here"));
    EXPECT_EQ(get(proxy, origin, "/page").body(), "here");
    origin.by_hand("/page", [](Hand& hand) { hand.leave(); });
    origin.by_hand("/other", [](Hand& hand) { hand.leave(); });
    auto const reload = get(proxy, origin, "/page", {{"Cache-Control", "no-cache"}});
    EXPECT_EQ(reload.status(), 502);
    EXPECT_THAT(reload.body(), HasSubstr("A stored copy exists: a request without Cache-Control and Pragma gets it."));
    EXPECT_THAT(get(proxy, origin, "/other", {{"Cache-Control", "no-cache"}}).body(), Not(HasSubstr("A stored copy exists")));
    EXPECT_EQ(get(proxy, origin, "/page").body(), "here");
}

TEST(Refresh, beyond_its_window_the_origin_is_asked_first) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page", {.fields = {{"Cache-Control", "max-age=1, stale-while-revalidate=2"}, {"Age", "5"}}, .body = "old"});
    get(proxy, origin, "/page").body();
    origin.answer("/page", fresh("new"));
    EXPECT_EQ(get(proxy, origin, "/page").body(), "new");
}

TEST(Refresh, an_answer_that_cannot_be_kept_is_not_received_for_nobody) {
    Origin origin;
    Proxy proxy(R"({"memory": {"size": "4 MiB", "object_max": "256 KiB"}})");
    for (Answer const& head : {Answer{.status = 302, .delimited = Delimited::by_chunks},
                               Answer{.fields = {{"Cache-Control", "max-age=600"}}, .delimited = Delimited::by_chunks}}) {
        auto const path = "/" + std::to_string(head.status);
        origin.answer(path, ageing("old"));
        get(proxy, origin, path).body();
        auto endless = origin.hold(path);
        EXPECT_EQ(get(proxy, origin, path).body(), "old");
        endless.head(head);
        for (int i = 0; i < 16; ++i) endless.piece(pattern(64 * 1024));
        EXPECT_TRUE(endless.nth(0).abandoned()) << path;
        for (int i = 0; i < 5; ++i) EXPECT_EQ(get(proxy, origin, path).body(), "old");
        EXPECT_EQ(endless.count(), 1u) << "the refresh pauses";
    }
}

TEST(Refresh, after_one_that_brings_nothing_it_pauses) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page", ageing("old"));
    get(proxy, origin, "/page").body();
    origin.answer("/page", {.status = 500, .body = "sorry"});
    for (int i = 0; i < 20; ++i) EXPECT_EQ(get(proxy, origin, "/page").body(), "old");
    EXPECT_TRUE(eventually([&] { return origin.requests("/page") == 2; }));
    pause_for(300ms);
    for (int i = 0; i < 20; ++i) EXPECT_EQ(get(proxy, origin, "/page").body(), "old");
    EXPECT_EQ(origin.requests("/page"), 2u);
}

TEST(Refresh, only_so_many_run_at_a_time) {
    std::atomic<bool> over = false;   // used by the origin's threads until they end
    std::atomic<int> running = 0;
    Origin origin;
    Proxy proxy(R"({"workers": 1})");
    origin.otherwise([&](Hand& hand) {
        if (!hand.request().head.has("If-None-Match")) return hand.answer(ageing("old"));
        ++running;
        while (!over) pause_for(20ms);
        hand.leave();
    });
    constexpr int urls = 100;
    Client client(proxy, origin);
    for (int round = 0; round < 2; ++round)
        for (int i = 0; i < urls; ++i) EXPECT_EQ(client.get("/" + std::to_string(i)).body(), "old");
    EXPECT_TRUE(eventually([&] { return running >= 4; }));
    pause_for(300ms);
    EXPECT_LE(running, 64);
    over = true;
}

TEST(Refresh, credentials_bring_none) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page",
                  {.fields = {{"Cache-Control", "public, max-age=1, stale-while-revalidate=600"}, {"Age", "5"}}, .body = "old"});
    get(proxy, origin, "/page").body();
    EXPECT_EQ(get(proxy, origin, "/page", {{"Authorization", "Basic d3Jvbmc6"}}).body(), "old");
    pause_for(300ms);
    EXPECT_EQ(origin.requests("/page"), 1u);
    origin.answer("/page", fresh("new"));
    get(proxy, origin, "/page").body();
    EXPECT_TRUE(eventually([&] { return get(proxy, origin, "/page").body() == "new"; }));
}

TEST(Refresh, HTTP_1_0_without_Host_brings_one_too) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page", ageing("old"));
    get(proxy, origin, "/page").body();
    origin.answer("/page", fresh("new"));
    Client old(proxy);
    auto reply = old.expect();
    old.raw("GET " + origin.url("/page") + " HTTP/1.0\r\n\r\n");
    EXPECT_EQ(reply.body(), "old");
    EXPECT_TRUE(eventually([&] { return get(proxy, origin, "/page").body() == "new"; }));
}

TEST(Refresh, what_was_within_the_limits_is_so_again) {
    Origin origin;
    Proxy proxy(R"({"limits": {"target_max": "48 KiB", "head_max": "64 KiB"}})");
    auto const path = "/" + std::string(20'000, 'x');
    origin.answer(path, ageing("old"));
    get(proxy, origin, path).body();
    origin.answer(path, fresh("new"));
    EXPECT_EQ(get(proxy, origin, path).body(), "old");
    EXPECT_TRUE(eventually([&] { return get(proxy, origin, path).body() == "new"; }));
}

TEST(Refresh, a_proxy_that_ends_does_not_wait_for_it) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page", ageing("old"));
    get(proxy, origin, "/page").body();
    auto slow = origin.hold("/page");
    EXPECT_EQ(get(proxy, origin, "/page").body(), "old");
    slow.arrived();
    proxy.stop(Millis{5'000});   // half of deadlines.drain
}

}   // namespace garner::test
