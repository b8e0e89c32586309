// The second request is served from memory: hits, their fields, and requests that are not hits.
#include <algorithm>

#include "story/scene.hpp"

namespace garner::test {

TEST(Hits, the_second_visit_does_not_reach_the_origin) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page", fresh("hello", 600, {{"Content-Type", "text/plain"}, {"X-Kept", "yes"}}));

    auto first = get(proxy, origin, "/page");
    EXPECT_EQ(first.status(), 200);
    EXPECT_EQ(first.body(), "hello");
    EXPECT_EQ(first.outcome(), "uri-miss");
    EXPECT_TRUE(first.stored());
    EXPECT_FALSE(first.has("Age"));

    auto second = get(proxy, origin, "/page");
    EXPECT_EQ(second.status(), 200);
    EXPECT_EQ(second.body(), "hello");
    EXPECT_TRUE(second.hit()) << second.field("Cache-Status");
    EXPECT_EQ(second.field("Content-Type"), "text/plain");
    EXPECT_EQ(second.field("X-Kept"), "yes");
    EXPECT_EQ(second.field("Date"), first.field("Date"));
    EXPECT_TRUE(second.has("Via"));
    EXPECT_EQ(origin.requests("/page"), 1u);
    EXPECT_EQ(proxy.logged("/page", 2).all.value("content_type", ""), "text/plain");
}

TEST(Hits, every_worker_sees_the_same_cache) {
    Origin origin;
    Proxy proxy(R"({"workers": 4})");
    origin.answer("/page", fresh("hello"));
    get(proxy, origin, "/page").body();
    for (int i = 0; i < 40; ++i) EXPECT_TRUE(get(proxy, origin, "/page").hit());
    EXPECT_EQ(origin.requests("/page"), 1u);
}

TEST(Hits, Age_and_ttl_count_the_seconds_since_the_origin_made_it) {
    Origin origin;
    Proxy proxy;
    origin.answer("/old", fresh("wine", 600, {{"Age", "100"}}));
    EXPECT_EQ(get(proxy, origin, "/old").body(), "wine");
    auto at_once = get(proxy, origin, "/old");
    ASSERT_TRUE(at_once.age());
    EXPECT_GE(*at_once.age(), 100);
    EXPECT_LE(*at_once.age(), 105);
    pause_for(2100ms);
    auto later = get(proxy, origin, "/old");
    EXPECT_GE(*later.age(), 102);
    EXPECT_LE(*later.age(), 110);
    auto const ttl = std::stoi(later.cache_parameter("ttl").value_or("0"));
    EXPECT_LE(ttl, 498);
    EXPECT_GE(ttl, 490);
}

TEST(Hits, an_object_is_stale_when_its_seconds_are_over) {
    Origin origin;
    Proxy proxy;
    origin.answer("/brief", {fresh("one", 1), fresh("two", 600)});
    EXPECT_EQ(get(proxy, origin, "/brief").body(), "one");
    pause_for(2100ms);
    auto after = get(proxy, origin, "/brief");
    EXPECT_EQ(after.body(), "two");
    EXPECT_EQ(after.outcome(), "stale");
    EXPECT_EQ(get(proxy, origin, "/brief").body(), "two");
    EXPECT_EQ(origin.requests("/brief"), 2u);
}

TEST(Hits, HEAD_is_answered_from_a_stored_GET) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page", fresh("hello"));
    Client client(proxy, origin);
    client.get("/page").body();
    auto head = client.head("/page");
    EXPECT_EQ(head.status(), 200);
    EXPECT_EQ(head.field("Content-Length"), "5");
    EXPECT_TRUE(head.hit());
    EXPECT_EQ(head.body(), "");
    // The connection is still in sync: no body bytes followed the head.
    EXPECT_EQ(client.get("/page").body(), "hello");
    EXPECT_EQ(origin.requests("/page"), 1u);
    EXPECT_EQ(client.connections(), 1);
}

TEST(Hits, a_HEAD_before_any_GET_goes_to_the_origin_and_stores_no_body) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page", fresh("hello"));
    EXPECT_EQ(get(proxy, origin, "/other").status(), 404);
    Client client(proxy, origin);
    EXPECT_EQ(client.head("/page").status(), 200);
    EXPECT_EQ(client.get("/page").body(), "hello");
    EXPECT_EQ(origin.requests("/page"), 2u);
}

TEST(Hits, the_key_is_the_normal_form_of_the_URL) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page?q=1", fresh("one"));
    origin.answer("/page?q=2", fresh("two"));
    EXPECT_EQ(get(proxy, origin, "/page?q=1").body(), "one");
    EXPECT_EQ(get(proxy, origin, "/page?q=2").body(), "two");
    Client client(proxy);
    auto reply = client.get("HTTP://127.0.0.1:" + std::to_string(origin.port()) + "/page?q=1");
    EXPECT_EQ(reply.body(), "one");
    EXPECT_TRUE(reply.hit());
}

TEST(Hits, absolute_form_wins_over_the_Host_field_and_rewrites_it) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page", fresh("hello"));
    EXPECT_EQ(get(proxy, origin, "/page", {{"Host", "elsewhere.invalid"}}).body(), "hello");
    EXPECT_EQ(origin.last("/page").head.field("Host"), origin.authority());
    EXPECT_TRUE(get(proxy, origin, "/page").hit());
}

TEST(Hits, an_empty_body_and_a_redirect_and_a_404_are_kept_too) {
    Origin origin;
    Proxy proxy;
    origin.answer("/empty", fresh(""));
    origin.answer("/moved", {.status = 301, .fields = {{"Location", "/page"}, {"Cache-Control", "max-age=60"}}});
    origin.answer("/nothing", {.status = 404, .fields = {{"Cache-Control", "max-age=60"}}, .body = "no"});
    origin.answer("/bare", {.status = 204, .fields = {{"Cache-Control", "max-age=60"}}});
    for (std::string path : {"/empty", "/moved", "/nothing", "/bare"}) {
        auto const first = get(proxy, origin, path);
        first.body();
        auto const second = get(proxy, origin, path);
        EXPECT_EQ(second.status(), first.status());
        EXPECT_EQ(second.body(), first.body());
        EXPECT_TRUE(second.hit()) << path << " " << second.field("Cache-Status");
        EXPECT_EQ(origin.requests(path), 1u);
    }
}

TEST(Hits, a_chunked_answer_of_unknown_length_becomes_a_whole_object) {
    Origin origin;
    Proxy proxy;
    auto const large = pattern(300'000);
    origin.answer("/film", {.fields = {{"Cache-Control", "max-age=60"}}, .body = large, .delimited = Delimited::by_chunks});
    EXPECT_EQ(get(proxy, origin, "/film").body(), large);
    auto second = get(proxy, origin, "/film");
    EXPECT_EQ(second.body(), large);
    EXPECT_TRUE(second.hit());
    EXPECT_EQ(origin.requests("/film"), 1u);
}

TEST(Hits, heuristic_freshness_comes_from_Last_Modified) {
    Origin origin;
    Proxy proxy;
    origin.answer("/old", {.fields = {{"Last-Modified", http_date(-1'000'000)}}, .body = "dust"});
    origin.answer("/new", {.fields = {{"Last-Modified", http_date(-1)}}, .body = "news"});
    EXPECT_EQ(get(proxy, origin, "/old").body(), "dust");
    EXPECT_TRUE(get(proxy, origin, "/old").hit());
    EXPECT_EQ(get(proxy, origin, "/new").body(), "news");
    EXPECT_FALSE(get(proxy, origin, "/new").hit());
}

TEST(Hits, what_became_of_a_request_is_told_in_the_words_of_RFC_9211) {
    struct Row {
        std::string method, path;
        Fields fields;
        std::string told;   // a regular expression
    };
    std::string const ttl = "ttl=(600|59[0-9])";
    Row const rows[] = {
        {"GET", "/page", {}, "fwd=uri-miss; fwd-status=200; stored; " + ttl},
        {"GET", "/page", {}, "hit; " + ttl},
        {"GET",
         "/page",
         {{"Cache-Control", "no-cache"}},
         "fwd=request; fwd-status=200; stored; " + ttl + "; detail=\"no-cache in request\""},
        {"GET", "/page", {{"Cache-Control", "no-store"}}, "fwd=request; fwd-status=200; detail=\"no-store in request\""},
        {"GET", "/page", {{"If-Match", "*"}}, "fwd=bypass; fwd-status=200; detail=\"If-Match\""},
        {"POST", "/page", {}, "fwd=method; fwd-status=200; detail=\"method\""},
        {"GET", "/kept", {}, "fwd=uri-miss; fwd-status=200; stored; " + ttl},
        {"GET", "/kept", {{"Cache-Control", "no-cache"}}, "fwd=request; fwd-status=200; detail=\"no-store in response\""},
        {"GET", "/asked", {}, "fwd=uri-miss; fwd-status=200; stored; " + ttl},
        {"GET", "/asked", {}, "fwd=stale; fwd-status=304; stored; " + ttl + "; detail=\"no-cache in response\""},
        {"GET", "/private", {}, "fwd=uri-miss; fwd-status=200; detail=\"private\""},
        {"GET", "/varied", {{"Foo", "1"}}, "fwd=uri-miss; fwd-status=200; stored; " + ttl},
        {"GET", "/varied", {{"Foo", "2"}}, "fwd=vary-miss; fwd-status=200; stored; " + ttl},
        {"GET", "/stale", {}, "fwd=uri-miss; fwd-status=200; stored; ttl=-[4-9]"},
        {"GET", "/stale", {}, "fwd=stale; fwd-status=304; stored; " + ttl + "; detail=\"stale\""},
    };
    Origin origin;
    Proxy proxy;
    origin.answer("/page", fresh("x"));
    origin.answer("/private", {.fields = {{"Cache-Control", "private, max-age=600"}}, .body = "x"});
    origin.answer("/kept", {fresh("x"), no_store("y")});
    origin.answer("/asked", {{.fields = {{"Cache-Control", "no-cache, max-age=600"}, {"ETag", R"("a")"}}, .body = "x"},
                             {.status = 304, .fields = {{"Cache-Control", "no-cache, max-age=600"}}}});
    origin.answer("/varied", fresh("x", 600, {{"Vary", "Foo"}}));
    origin.answer("/stale", {fresh("x", 1, {{"ETag", R"("a")"}, {"Age", "5"}}),
                             {.status = 304, .fields = {{"Cache-Control", "max-age=600"}}}});
    Client client(proxy, origin);
    for (auto const& row : rows) {
        auto reply = client.send(row.method, row.path, row.fields);
        EXPECT_THAT(reply.field("Cache-Status"), ::testing::MatchesRegex("garner-[0-9a-f]+; " + row.told))
            << row.method << ' ' << row.path;
    }
}

TEST(Hits, the_log_has_one_line_for_every_answer) {
    Origin origin;
    Proxy proxy(R"({"workers": 1})");
    origin.answer("/page", fresh("hello"));
    get(proxy, origin, "/page").body();
    auto const miss = proxy.logged("/page");
    EXPECT_EQ(miss.tag, "TCP_MISS");
    EXPECT_EQ(miss.status, 200);
    EXPECT_EQ(miss.method, "GET");
    EXPECT_EQ(miss.url, origin.url("/page"));
    get(proxy, origin, "/page").body();
    EXPECT_THAT(proxy.logged("/page", 2).tag, AnyOf("TCP_HIT", "TCP_MEM_HIT"));
}

TEST(Hits, squid_and_combined_logs_read_as_theirs) {
    Origin origin;
    origin.answer("/page", fresh("hello"));
    for (std::string format : {"squid", "combined"}) {
        Proxy proxy(R"({"log": {"format": ")" + format + R"("}})");
        get(proxy, origin, "/page", {{"User-Agent", "scene/1"}}).body();
        ASSERT_TRUE(eventually([&] { return read_file(proxy.log_file()).ends_with("\n"); }));
        auto const line = read_file(proxy.log_file());
        auto const expected = format == "squid"
                                  ? R"(^[0-9]+\.[0-9]{3} +[0-9]+ 127\.0\.0\.1 TCP_MISS/200 [0-9]+ GET http://[^ ]+/page - )"
                                  : R"(^127\.0\.0\.1 - - \[[^]]+\] "GET http://[^ ]+/page HTTP/1\.1" 200 [0-9]+ "[^"]*" "scene/1")";
        EXPECT_THAT(line, ::testing::ContainsRegex(expected));
    }
}

TEST(Hits, a_request_that_cannot_be_read_has_a_line_that_says_so) {
    for (auto const& [format, told] :
         std::vector<std::pair<std::string, std::string>>{{"squid", "127.0.0.1 NONE_NONE/400 "},
                                                          {"squid", " - error:invalid-request - HIER_NONE/- text/plain"},
                                                          {"combined", "] \"-\" 400 "}}) {
        Proxy proxy(R"({"log": {"format": ")" + format + R"("}})");
        Client client(proxy);
        client.raw("GET http://origin.test/ HTTP/1.1\r\nHost : origin.test\r\n\r\n");
        EXPECT_EQ(client.expect().status(), 400);
        ASSERT_TRUE(eventually([&] { return read_file(proxy.log_file()).ends_with("\n"); }));
        EXPECT_THAT(read_file(proxy.log_file()), HasSubstr(told));
    }
}

}   // namespace garner::test
