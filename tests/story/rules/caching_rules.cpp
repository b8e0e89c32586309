// The operator's caching.rules: own lifetimes, responses that are never stored,
// ignored reloads; and the log entries where they differ from RFC 9111.
#include <thread>

#include "story/scene.hpp"

namespace garner::test {

namespace {

Proxy with_rules(std::string const& rules) { return Proxy(R"({"caching": {"rules": )" + rules + "}}"); }

/// Requests twice; returns the second response.
Reply second(Proxy const& proxy, Origin const& origin, std::string const& path, Fields const& fields = {}) {
    get(proxy, origin, path).body();
    return get(proxy, origin, path, fields);
}

std::string logged_reason(Proxy const& proxy, std::string const& path, std::size_t count) {
    return proxy.logged(path, count).all.value("reason", "");
}

}   // namespace

TEST(Rules, default_ttl_keeps_what_says_nothing_and_that_is_told) {
    Origin origin;
    Proxy proxy(R"({"workers": 1, "caching": {"rules": [{"url_contains": "/kept", "default_ttl": "1m"}]}})");
    origin.answer("/kept", {.body = "x"});
    origin.answer("/kept/dated", {.fields = {{"Last-Modified", http_date(-86'400)}}, .body = "x"});
    origin.answer("/kept/said", {.fields = {{"Cache-Control", "no-store"}}, .body = "x"});
    origin.answer("/other", {.body = "x"});
    auto first = get(proxy, origin, "/kept");
    EXPECT_TRUE(first.stored());
    EXPECT_EQ(first.detail(), "rule: default_ttl");
    auto again = get(proxy, origin, "/kept");
    EXPECT_TRUE(again.hit());
    EXPECT_EQ(again.detail(), "rule: default_ttl");
    EXPECT_EQ(logged_reason(proxy, "/kept", 2), "rule: default_ttl");
    auto guessed = second(proxy, origin, "/kept/dated");
    EXPECT_TRUE(guessed.hit());
    EXPECT_EQ(guessed.detail(), "");
    EXPECT_FALSE(second(proxy, origin, "/kept/said").hit());
    EXPECT_FALSE(second(proxy, origin, "/other").hit());
}

TEST(Rules, ttl_min_raises_what_the_origin_said_and_that_is_told) {
    Origin origin;
    Proxy proxy(R"({"workers": 1, "caching": {"rules": [{"type": "image/*", "ttl_min": "1m"}]}})");
    auto const image = [](std::string cache_control) {
        return Answer{.fields = {{"Cache-Control", cache_control}, {"Content-Type", "image/png"}}, .body = "x"};
    };
    origin.answer("/short", image("max-age=0"));
    origin.answer("/long", image("max-age=600"));
    origin.answer("/no-cache", image("no-cache, max-age=600"));
    origin.answer("/private", image("private, max-age=600"));
    origin.answer("/text", {.fields = {{"Cache-Control", "max-age=0"}, {"Content-Type", "text/plain"}}, .body = "x"});
    auto raised = second(proxy, origin, "/short");
    EXPECT_TRUE(raised.hit());
    EXPECT_EQ(raised.detail(), "rule: ttl_min");
    EXPECT_EQ(logged_reason(proxy, "/short", 2), "rule: ttl_min");
    auto untouched = second(proxy, origin, "/long");
    EXPECT_TRUE(untouched.hit());
    EXPECT_EQ(untouched.detail(), "");
    for (std::string path : {"/no-cache", "/private", "/text"}) EXPECT_FALSE(second(proxy, origin, path).hit()) << path;
}

TEST(Rules, ttl_max_and_heuristic_factor_shorten_and_the_first_rule_decides) {
    Origin origin;
    auto proxy = with_rules(R"([{"url_contains": "/exempt", "ttl_max": "1h", "heuristic_factor": 0.1},
                                {"url_contains": "/", "ttl_max": "0s", "heuristic_factor": 0}])");
    Fields const dated{{"Last-Modified", http_date(-86'400)}};
    origin.answer("/said", fresh("x"));
    origin.answer("/guessed", {.fields = dated, .body = "x"});
    origin.answer("/exempt/said", fresh("x"));
    origin.answer("/exempt/guessed", {.fields = dated, .body = "x"});
    for (std::string path : {"/said", "/guessed"}) {
        EXPECT_FALSE(second(proxy, origin, path).hit()) << path;
        auto exempt = second(proxy, origin, "/exempt" + path);
        EXPECT_TRUE(exempt.hit()) << path;
        EXPECT_EQ(exempt.detail(), "") << path;
    }
}

TEST(Rules, never_keeps_a_type_out_and_says_why) {
    Origin origin;
    auto proxy = with_rules(R"([{"type": "video/*", "never": true}])");
    origin.answer("/film", fresh("x", 600, {{"Content-Type", "video/mp4"}}));
    origin.answer("/page", fresh("x", 600, {{"Content-Type", "text/html"}}));
    auto film = second(proxy, origin, "/film");
    EXPECT_FALSE(film.hit());
    EXPECT_EQ(film.detail(), "rule: never");
    EXPECT_TRUE(second(proxy, origin, "/page").hit());
}

TEST(Rules, a_reload_is_ignored_where_a_rule_says_so_and_that_is_told) {
    Origin origin;
    Proxy proxy(R"({"workers": 1, "caching": {"rules": [{"url_contains": "/live", "reload": "honour"},
                                                        {"url_contains": "/", "reload": "ignore"}]}})");
    Fields const aged{{"Cache-Control", "max-age=600"}, {"Age", "100"}};
    origin.answer("/page", {.fields = aged, .body = "x"});
    origin.answer("/live", {.fields = aged, .body = "x"});
    Fields const reloads{{"Cache-Control", "no-cache"}, {"Cache-Control", "max-age=0"}, {"Pragma", "no-cache"}};
    for (auto const& reload : reloads) {
        auto reply = second(proxy, origin, "/page", {reload});
        EXPECT_TRUE(reply.hit()) << reload.second;
        EXPECT_EQ(reply.detail(), "rule: reload ignored") << reload.second;
        EXPECT_FALSE(second(proxy, origin, "/live", {reload}).hit()) << reload.second;
    }
    EXPECT_EQ(origin.requests("/page"), 1u);
    EXPECT_EQ(logged_reason(proxy, "/page", 6), "rule: reload ignored");
    // Other request directives are honoured.
    EXPECT_FALSE(get(proxy, origin, "/page", {{"Cache-Control", "max-age=50"}}).hit());
    EXPECT_EQ(get(proxy, origin, "/page").detail(), "");
    origin.answer("/page/stale", {.fields = {{"Cache-Control", "max-age=60"}, {"Age", "100"}}, .body = "x"});
    EXPECT_FALSE(second(proxy, origin, "/page/stale", {{"Cache-Control", "no-cache"}}).hit());
}

}   // namespace garner::test
