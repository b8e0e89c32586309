// Storing: cookies, Vary, Authorization, no-store, private, and the operator's rules.
#include "story/scene.hpp"

namespace garner::test {

namespace {

/// Requests twice and returns the number of requests at the origin.
std::size_t origin_asked(Proxy const& proxy, Origin const& origin, std::string const& path, Fields const& fields = {}) {
    auto const before = origin.requests(path);
    get(proxy, origin, path, fields).body();
    get(proxy, origin, path, fields).body();
    return origin.requests(path) - before;
}

Answer with(std::string const& cache_control, std::string body = "x") {
    return {.fields = {{"Cache-Control", cache_control}}, .body = std::move(body)};
}

}   // namespace

TEST(Storing, no_store_private_and_no_cache_are_asked_for_every_time) {
    Origin origin;
    Proxy proxy;
    origin.answer("/no-store", with("no-store, max-age=60"));
    origin.answer("/private", with("private, max-age=60"));
    origin.answer("/no-cache", with("no-cache, max-age=60"));
    origin.answer("/nothing-said", {.body = "x"});
    for (std::string path : {"/no-store", "/private", "/no-cache", "/nothing-said"})
        EXPECT_EQ(origin_asked(proxy, origin, path), 2u) << path;
    auto reply = get(proxy, origin, "/no-store");
    EXPECT_FALSE(reply.stored());
    EXPECT_NE(reply.detail(), "");
}

TEST(Storing, no_store_in_a_request_keeps_its_answer_out) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page", fresh("x"));
    EXPECT_FALSE(get(proxy, origin, "/page", {{"Cache-Control", "no-store"}}).stored());
    get(proxy, origin, "/page").body();
    EXPECT_EQ(origin.requests("/page"), 2u);
}

TEST(Storing, an_answer_to_Authorization_is_kept_only_where_the_origin_says_so) {
    Origin origin;
    Proxy proxy;
    Fields const user{{"Authorization", "Basic dTpw"}};
    origin.answer("/plain", with("max-age=60"));
    EXPECT_EQ(origin_asked(proxy, origin, "/plain", user), 2u);
    origin.answer("/public", with("public, max-age=60"));
    EXPECT_EQ(origin_asked(proxy, origin, "/public", user), 1u);
    origin.answer("/shared", with("s-maxage=60"));
    EXPECT_EQ(origin_asked(proxy, origin, "/shared", user), 1u);
    origin.answer("/must", with("max-age=60, must-revalidate"));
    EXPECT_EQ(origin_asked(proxy, origin, "/must", user), 1u);
}

TEST(Storing, what_was_stored_for_all_answers_a_request_with_Authorization_only_where_allowed) {
    Origin origin;
    Proxy proxy;
    origin.answer("/public", with("public, max-age=60"));
    get(proxy, origin, "/public").body();
    EXPECT_TRUE(get(proxy, origin, "/public", {{"Authorization", "Basic dTpw"}}).hit());
}

TEST(Storing, Set_Cookie_is_kept_where_the_origin_speaks_of_shared_caches_or_the_operator_says_so) {
    Origin origin;
    origin.answer("/explicit", fresh("x", 60, {{"Set-Cookie", "a=b"}}));
    origin.answer("/guessed", {.fields = {{"Set-Cookie", "a=b"}, {"Last-Modified", http_date(-1'000'000)}}, .body = "x"});
    origin.answer("/shared", fresh("x", 60, {{"Set-Cookie", "a=b"}, {"Cache-Control", "public"}}));
    Proxy keeps(R"({"caching": {"store_set_cookie": true}})");
    get(keeps, origin, "/explicit").body();
    auto again = get(keeps, origin, "/explicit");
    EXPECT_TRUE(again.hit());
    EXPECT_EQ(again.field("Set-Cookie"), "a=b");
    EXPECT_EQ(origin_asked(keeps, origin, "/guessed"), 2u);
    Proxy refuses;
    EXPECT_EQ(origin_asked(refuses, origin, "/explicit"), 2u);
    EXPECT_EQ(origin_asked(refuses, origin, "/shared"), 1u);
}

TEST(Storing, variants_of_one_URL_live_together) {
    Origin origin;
    Proxy proxy;
    origin.by_hand("/page", [](Hand& hand) {
        auto const language = hand.request().head.field("Accept-Language");
        hand.answer(fresh("in " + language, 60, {{"Vary", "Accept-Language"}}));
    });
    for (int round = 0; round < 2; ++round)
        for (std::string language : {"de", "en", "fr"}) {
            auto reply = get(proxy, origin, "/page", {{"Accept-Language", language}});
            EXPECT_EQ(reply.body(), "in " + language);
            EXPECT_EQ(reply.hit(), round == 1) << reply.field("Cache-Status");
        }
    EXPECT_EQ(get(proxy, origin, "/page").body(), "in ");
    EXPECT_EQ(origin.requests("/page"), 4u);
    EXPECT_EQ(get(proxy, origin, "/page", {{"Accept-Language", "it"}}).outcome(), "vary-miss");
}

TEST(Storing, Vary_star_never_matches) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page", fresh("x", 60, {{"Vary", "Accept, *"}}));
    EXPECT_EQ(origin_asked(proxy, origin, "/page"), 2u);
}

TEST(Storing, a_URL_with_one_of_the_operators_words_is_never_cached) {
    Origin origin;
    Proxy proxy(R"({"caching": {"never": ["cgi-bin", "secret"]}})");
    origin.answer("/cgi-bin/x", fresh("x"));
    origin.answer("/a?secret=1", fresh("x"));
    origin.answer("/plain", fresh("x"));
    EXPECT_EQ(origin_asked(proxy, origin, "/cgi-bin/x"), 2u);
    EXPECT_EQ(origin_asked(proxy, origin, "/a?secret=1"), 2u);
    EXPECT_EQ(origin_asked(proxy, origin, "/plain"), 1u);
}

TEST(Storing, what_is_larger_than_object_max_passes_whole_and_is_not_kept) {
    Origin origin;
    Proxy proxy(R"({"memory": {"object_max": "100 KiB"}})");
    origin.answer("/small", fresh(pattern(90'000)));
    origin.answer("/large", fresh(pattern(200'000)));
    origin.answer("/unknown",
                  {.fields = {{"Cache-Control", "max-age=60"}}, .body = pattern(3'000'000), .delimited = Delimited::by_chunks});
    EXPECT_EQ(origin_asked(proxy, origin, "/small"), 1u);
    EXPECT_EQ(origin_asked(proxy, origin, "/large"), 2u);
    EXPECT_EQ(origin_asked(proxy, origin, "/unknown"), 2u);
    EXPECT_EQ(get(proxy, origin, "/large").body(), pattern(200'000));
    EXPECT_EQ(get(proxy, origin, "/unknown").body(), pattern(3'000'000));
}

TEST(Storing, an_answer_that_ended_early_is_never_a_hit) {
    Origin origin;
    Proxy proxy;
    auto const head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\n";
    origin.raw("/length", std::string(head) + "Content-Length: 100\r\n\r\nonly this");
    origin.raw("/chunks", std::string(head) + "Transfer-Encoding: chunked\r\n\r\n9\r\nonly this\r\n");
    for (std::string path : {"/length", "/chunks"}) {
        auto cut = get(proxy, origin, path);
        EXPECT_EQ(cut.body(), "only this");
        EXPECT_FALSE(cut.complete()) << path;
        EXPECT_FALSE(get(proxy, origin, path).hit()) << path;
        EXPECT_EQ(origin.requests(path), 2u) << path;
    }
}

TEST(Storing, a_request_with_a_body_is_not_answered_from_the_cache) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page", fresh("x"));
    get(proxy, origin, "/page").body();
    EXPECT_FALSE(Client(proxy, origin).send("GET", "/page", {}, "question").hit());
    EXPECT_EQ(origin.last("/page").body, "question");
}

TEST(Storing, request_directives_are_heeded) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page", fresh("x", 600, {{"Age", "50"}}));
    auto alone = get(proxy, origin, "/page", {{"Cache-Control", "only-if-cached"}});
    EXPECT_EQ(alone.status(), 504);
    EXPECT_EQ(origin.requests("/page"), 0u);
    get(proxy, origin, "/page").body();
    EXPECT_TRUE(get(proxy, origin, "/page", {{"Cache-Control", "only-if-cached"}}).hit());
    EXPECT_TRUE(get(proxy, origin, "/page", {{"Cache-Control", "max-age=1000"}}).hit());
    EXPECT_EQ(origin.requests("/page"), 1u);
    EXPECT_FALSE(get(proxy, origin, "/page", {{"Cache-Control", "max-age=10"}}).hit());
    EXPECT_FALSE(get(proxy, origin, "/page", {{"Cache-Control", "min-fresh=590"}}).hit());
    EXPECT_FALSE(get(proxy, origin, "/page", {{"Cache-Control", "no-cache"}}).hit());
    EXPECT_FALSE(get(proxy, origin, "/page", {{"Pragma", "no-cache"}}).hit());
    EXPECT_EQ(origin.requests("/page"), 5u);
}

}   // namespace garner::test
