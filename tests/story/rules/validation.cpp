// Conditional requests in both directions: own validation of stale objects
// at the origin, and clients' conditions evaluated on stored objects.
#include "story/scene.hpp"

namespace garner::test {

namespace {

/// An object with an ETag: already stale, validated with 304 by its own tag.
void validated(Origin& origin, std::string const& path, std::string const& cache_control = "max-age=0") {
    origin.by_hand(path, [=](Hand& hand) {
        Fields const fields{{"ETag", R"("v1")"}, {"Cache-Control", cache_control}, {"X-Turn", http_date()}};
        if (hand.request().head.field("If-None-Match") == R"("v1")")
            hand.answer({.status = 304, .fields = fields});
        else
            hand.answer({.fields = fields, .body = "body"});
    });
}

}   // namespace

TEST(Validation, a_304_from_the_origin_makes_the_stored_body_good_again) {
    Origin origin;
    Proxy proxy(R"({"workers": 1})");
    validated(origin, "/page");
    EXPECT_EQ(get(proxy, origin, "/page").body(), "body");
    auto second = get(proxy, origin, "/page");
    EXPECT_EQ(second.status(), 200);
    EXPECT_EQ(second.body(), "body");
    EXPECT_EQ(second.outcome(), "stale");
    EXPECT_EQ(second.fwd_status(), 304);
    EXPECT_EQ(origin.last("/page").head.field("If-None-Match"), R"("v1")");
    EXPECT_EQ(proxy.logged("/page", 2).tag, "TCP_REFRESH_UNMODIFIED");
}

TEST(Validation, a_304_updates_the_stored_fields_but_never_those_of_the_body) {
    Origin origin;
    Proxy proxy;
    origin.by_hand("/page", [](Hand& hand) {
        if (hand.request().head.has("If-None-Match"))
            hand.answer({.status = 304,
                         .fields = {{"ETag", R"("v1")"},
                                    {"Cache-Control", "max-age=600"},
                                    {"X-Edition", "second"},
                                    {"Content-Type", "text/wrong"}}});
        else
            hand.answer({.fields = {{"ETag", R"("v1")"},
                                    {"Cache-Control", "max-age=0"},
                                    {"X-Edition", "first"},
                                    {"Content-Type", "text/plain"}},
                         .body = "body"});
    });
    get(proxy, origin, "/page").body();
    get(proxy, origin, "/page").body();
    auto third = get(proxy, origin, "/page");
    EXPECT_TRUE(third.hit());
    EXPECT_EQ(third.field("X-Edition"), "second");
    EXPECT_EQ(third.field("Content-Type"), "text/plain");
    EXPECT_EQ(third.body(), "body");
    EXPECT_EQ(origin.requests("/page"), 2u);
}

TEST(Validation, a_200_replaces_what_was_stored) {
    Origin origin;
    Proxy proxy(R"({"workers": 1})");
    origin.answer("/page", {{.fields = {{"ETag", R"("v1")"}, {"Cache-Control", "max-age=0"}}, .body = "old"},
                            {.fields = {{"ETag", R"("v2")"}, {"Cache-Control", "max-age=600"}}, .body = "new"}});
    EXPECT_EQ(get(proxy, origin, "/page").body(), "old");
    auto second = get(proxy, origin, "/page");
    EXPECT_EQ(second.body(), "new");
    EXPECT_EQ(second.fwd_status(), 200);
    EXPECT_EQ(proxy.logged("/page", 2).tag, "TCP_REFRESH_MODIFIED");
    EXPECT_TRUE(get(proxy, origin, "/page").hit());
}

TEST(Validation, Last_Modified_alone_validates_too) {
    Origin origin;
    Proxy proxy;
    auto const modified = http_date(-1000);
    origin.by_hand("/page", [=](Hand& hand) {
        Fields const fields{{"Last-Modified", modified}, {"Cache-Control", "max-age=0"}};
        bool const same = hand.request().head.field("If-Modified-Since") == modified;
        hand.answer(same ? Answer{.status = 304, .fields = fields} : Answer{.fields = fields, .body = "body"});
    });
    get(proxy, origin, "/page").body();
    auto second = get(proxy, origin, "/page");
    EXPECT_EQ(second.body(), "body");
    EXPECT_EQ(second.fwd_status(), 304);
}

TEST(Validation, a_client_with_the_right_tag_gets_304_from_the_store) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page", fresh("body", 600, {{"ETag", R"("v1")"}, {"Vary", "Accept"}, {"Content-Location", "/p"}}));
    Client client(proxy, origin);
    client.get("/page").body();
    auto same = client.get("/page", {{"If-None-Match", R"("v0", W/"v1")"}});
    EXPECT_EQ(same.status(), 304);
    EXPECT_TRUE(same.hit());
    for (auto name : {"ETag", "Cache-Control", "Date", "Vary", "Content-Location"}) EXPECT_TRUE(same.has(name)) << name;
    auto other = client.get("/page", {{"If-None-Match", R"("v2")"}});
    EXPECT_EQ(other.status(), 200);
    EXPECT_EQ(other.body(), "body");
    EXPECT_EQ(client.get("/page", {{"If-None-Match", "*"}}).status(), 304);
    EXPECT_EQ(origin.requests("/page"), 1u);
    EXPECT_EQ(client.connections(), 1);
}

TEST(Validation, If_Modified_Since_is_answered_from_the_store) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page", fresh("body", 600, {{"Last-Modified", http_date(-1000)}}));
    Client client(proxy, origin);
    client.get("/page").body();
    EXPECT_EQ(client.get("/page", {{"If-Modified-Since", http_date(-1000)}}).status(), 304);
    EXPECT_EQ(client.get("/page", {{"If-Modified-Since", http_date(-500)}}).status(), 304);
    EXPECT_EQ(client.get("/page", {{"If-Modified-Since", http_date(-2000)}}).status(), 200);
    EXPECT_EQ(origin.requests("/page"), 1u);
}

TEST(Validation, a_clients_condition_on_a_stale_object_is_settled_by_one_question) {
    Origin origin;
    Proxy proxy;
    validated(origin, "/page");
    get(proxy, origin, "/page").body();
    auto same = get(proxy, origin, "/page", {{"If-None-Match", R"("v1")"}});
    EXPECT_EQ(same.status(), 304);
    auto other = get(proxy, origin, "/page", {{"If-None-Match", R"("other")"}});
    EXPECT_EQ(other.status(), 200);
    EXPECT_EQ(other.body(), "body");
    EXPECT_EQ(origin.requests("/page"), 3u);
}

TEST(Validation, a_conditional_request_for_what_is_not_stored_gets_what_it_asked_for) {
    Origin origin;
    Proxy proxy;
    validated(origin, "/page", "max-age=600");
    auto same = get(proxy, origin, "/page", {{"If-None-Match", R"("v1")"}});
    EXPECT_EQ(same.status(), 304);
    EXPECT_EQ(get(proxy, origin, "/page").body(), "body");
}

TEST(Stale, what_the_origin_cannot_renew_is_served_stale_unless_that_is_forbidden) {
    Proxy proxy;
    std::string const paths[] = {"/may", "/must-not"};
    auto origin = std::make_unique<Origin>();
    origin->answer(paths[0], {.fields = {{"Cache-Control", "max-age=1"}, {"Age", "5"}, {"ETag", R"("a")"}}, .body = "x"});
    origin->answer(paths[1],
                   {.fields = {{"Cache-Control", "max-age=1, must-revalidate"}, {"Age", "5"}, {"ETag", R"("a")"}}, .body = "x"});
    Client client(proxy, *origin);
    for (auto const& path : paths) EXPECT_EQ(client.get(path).body(), "x");
    origin.reset();
    auto may = client.get(paths[0]);
    EXPECT_EQ(may.status(), 200);
    EXPECT_EQ(may.body(), "x");
    EXPECT_GE(may.age().value_or(0), 5);
    auto must_not = client.get(paths[1]);
    EXPECT_THAT(must_not.status(), AnyOf(502, 504));
}

TEST(Stale, stale_if_error_covers_an_origin_that_answers_500) {
    Origin origin;
    Proxy proxy;
    Answer const broken{.status = 503, .fields = {{"Cache-Control", "no-store"}}, .body = "broken"};
    auto stale = [](std::string const& more) {
        return Answer{.fields = {{"Cache-Control", "max-age=1" + more}, {"Age", "5"}, {"ETag", R"("a")"}}, .body = "x"};
    };
    origin.answer("/covered", {stale(", stale-if-error=600"), broken});
    origin.answer("/bare", {stale(""), broken});
    get(proxy, origin, "/covered").body();
    get(proxy, origin, "/bare").body();
    EXPECT_EQ(get(proxy, origin, "/covered").body(), "x");
    EXPECT_EQ(get(proxy, origin, "/bare").status(), 503);
}

TEST(Stale, max_stale_in_a_request_accepts_it) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page", {.fields = {{"Cache-Control", "max-age=1"}, {"Age", "5"}, {"ETag", R"("a")"}}, .body = "x"});
    get(proxy, origin, "/page").body();
    EXPECT_TRUE(get(proxy, origin, "/page", {{"Cache-Control", "max-stale=100"}}).hit());
    EXPECT_FALSE(get(proxy, origin, "/page", {{"Cache-Control", "max-stale=2"}}).hit());
    EXPECT_EQ(origin.requests("/page"), 2u);
}

}   // namespace garner::test
