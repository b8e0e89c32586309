// Methods: PURGE, unsafe methods that invalidate, unknown ones, TRACE and OPTIONS with Max-Forwards.
#include "story/scene.hpp"

namespace garner::test {

TEST(Purge, removes_the_object_for_every_worker_and_variant) {
    Origin origin;
    Proxy proxy;
    origin.by_hand("/page", [](Hand& hand) {
        hand.answer(fresh(hand.request().head.field("Accept-Language"), 600, {{"Vary", "Accept-Language"}}));
    });
    for (std::string language : {"de", "en"}) get(proxy, origin, "/page", {{"Accept-Language", language}}).body();
    Client client(proxy, origin);
    EXPECT_EQ(client.send("PURGE", "/page").status(), 200);
    for (std::string language : {"de", "en"}) EXPECT_FALSE(get(proxy, origin, "/page", {{"Accept-Language", language}}).hit());
    EXPECT_EQ(origin.requests("/page"), 4u);
}

TEST(Purge, of_what_is_not_there_is_404_and_never_reaches_the_origin) {
    Origin origin;
    Proxy proxy;
    Client client(proxy, origin);
    EXPECT_EQ(client.send("PURGE", "/nothing").status(), 404);
    EXPECT_EQ(origin.requests("/nothing"), 0u);
}

TEST(Purge, is_refused_to_a_source_that_may_not) {
    Origin origin;
    Proxy proxy(R"({"purge": [{"allow": {"source": ["10.0.0.0/8"]}}, {"deny": "all"}]})");
    origin.answer("/page", fresh("x"));
    get(proxy, origin, "/page").body();
    EXPECT_EQ(Client(proxy, origin).send("PURGE", "/page").status(), 403);
    EXPECT_TRUE(get(proxy, origin, "/page").hit());
}

TEST(Purge, is_refused_if_no_rule_matches) {
    Origin origin;
    Proxy proxy(Proxy::Setup{.patch = R"({"purge": [{"allow": {"source": "10.0.0.9"}}]})", .accelerates = origin.url()});
    EXPECT_EQ(Client(proxy, origin).send("PURGE", "/page").status(), 403);
    EXPECT_EQ(Client("127.0.0.1", proxy.accelerator()).send("PURGE", "/page").status(), 403);
}

TEST(Purge, is_allowed_to_a_visitor_of_an_accelerator_by_a_rule_only) {
    Origin origin;
    Proxy open(Proxy::Setup{.patch = R"({"purge": [{"allow": {"source": "127.0.0.1"}}]})", .accelerates = origin.url()});
    EXPECT_EQ(Client("127.0.0.1", open.accelerator()).send("PURGE", "/page").status(), 404);   // nothing is stored
    Proxy proxy(Proxy::Setup{.accelerates = origin.url()});
    EXPECT_EQ(Client("127.0.0.1", proxy.accelerator()).send("PURGE", "/page").status(), 403);
}

TEST(Unsafe, a_POST_goes_through_with_its_body_and_invalidates) {
    Origin origin;
    Proxy proxy;
    origin.by_hand("/form", [](Hand& hand) {
        hand.read_body();
        hand.answer(hand.request().head.method() == "POST" ? no_store("thanks") : fresh("form"));
    });
    EXPECT_EQ(get(proxy, origin, "/form").body(), "form");
    EXPECT_TRUE(get(proxy, origin, "/form").hit());
    auto posted = Client(proxy, origin).post("/form", "name=value");
    EXPECT_EQ(posted.body(), "thanks");
    EXPECT_EQ(posted.outcome(), "method");
    EXPECT_EQ(origin.last("/form").body, "name=value");
    EXPECT_FALSE(get(proxy, origin, "/form").hit());
}

TEST(Unsafe, an_error_answer_does_not_invalidate) {
    Origin origin;
    Proxy proxy;
    origin.by_hand("/form", [](Hand& hand) {
        hand.read_body();
        hand.answer(hand.request().head.method() == "POST" ? Answer{.status = 500} : fresh("form"));
    });
    get(proxy, origin, "/form").body();
    EXPECT_EQ(Client(proxy, origin).post("/form", "x").status(), 500);
    EXPECT_TRUE(get(proxy, origin, "/form").hit());
}

TEST(Unsafe, Location_and_Content_Location_of_the_same_origin_are_invalidated_too) {
    Origin origin, other;
    Proxy proxy;
    origin.answer("/list", fresh("list"));
    origin.answer("/item", fresh("item"));
    other.answer("/list", fresh("theirs"));
    origin.answer("/add", {.status = 201, .fields = {{"Location", "/list"}, {"Content-Location", origin.url("/item")}}});
    origin.answer("/attack", {.status = 201, .fields = {{"Location", other.url("/list")}}});
    get(proxy, origin, "/list").body();
    get(proxy, origin, "/item").body();
    get(proxy, other, "/list").body();
    Client(proxy, origin).post("/add", "x").body();
    Client(proxy, origin).post("/attack", "x").body();
    EXPECT_FALSE(get(proxy, origin, "/list").hit());
    EXPECT_FALSE(get(proxy, origin, "/item").hit());
    EXPECT_TRUE(get(proxy, other, "/list").hit());
}

TEST(Unsafe, PUT_DELETE_PATCH_and_unknown_methods_pass_and_invalidate) {
    Origin origin;
    Proxy proxy;
    for (std::string method : {"PUT", "DELETE", "PATCH", "BREW", "M-SEARCH"}) {
        origin.by_hand("/thing", [](Hand& hand) {
            hand.read_body();
            hand.answer(hand.request().head.method() == "GET" ? fresh("thing") : no_store("done"));
        });
        get(proxy, origin, "/thing").body();
        auto reply = Client(proxy, origin).send(method, "/thing", {}, "body");
        EXPECT_EQ(reply.status(), 200) << method;
        EXPECT_EQ(reply.body(), "done") << method;
        EXPECT_EQ(origin.last("/thing").head.method(), method);
        EXPECT_EQ(origin.last("/thing").body, "body");
        EXPECT_FALSE(get(proxy, origin, "/thing").hit()) << method;
    }
}

TEST(MaxForwards, zero_is_answered_by_the_proxy_itself) {
    Origin origin;
    Proxy proxy;
    Client client(proxy, origin);
    auto options = client.send("OPTIONS", "/page", {{"Max-Forwards", "0"}});
    EXPECT_EQ(options.status(), 200);
    EXPECT_TRUE(options.complete());
    auto trace = client.send(
        "TRACE", "/page", {{"Max-Forwards", "0"}, {"Cookie", "secret"}, {"Authorization", "Basic c2VjcmV0"}, {"X-Shown", "yes"}});
    EXPECT_EQ(trace.status(), 200);
    EXPECT_EQ(trace.field("Content-Type"), "message/http");
    EXPECT_THAT(trace.body(), HasSubstr("X-Shown: yes"));
    EXPECT_THAT(trace.body(), Not(HasSubstr("ecret")));
    EXPECT_THAT(trace.body(), Not(HasSubstr("c2Vjc")));
    EXPECT_EQ(origin.requests("/page"), 0u);
}

TEST(MaxForwards, more_than_zero_is_counted_down) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page", no_store("x"));
    Client client(proxy, origin);
    EXPECT_EQ(client.send("OPTIONS", "/page", {{"Max-Forwards", "5"}}).status(), 200);
    EXPECT_EQ(origin.last("/page").head.field("Max-Forwards"), "4");
    EXPECT_EQ(client.send("TRACE", "/page", {{"Max-Forwards", "1"}}).status(), 200);
    EXPECT_EQ(origin.last("/page").head.field("Max-Forwards"), "0");
}

TEST(MaxForwards, OPTIONS_of_a_whole_server_is_asked_with_an_asterisk) {
    Origin origin;
    Proxy proxy;
    origin.answer("*", no_store(""));
    Client client(proxy);
    // RFC 9112 3.2.4: the last proxy sends an absolute-form without path and query as "*".
    EXPECT_EQ(client.send("OPTIONS", origin.url()).status(), 200);
    EXPECT_EQ(origin.requests("*"), 1u);
}

TEST(MaxForwards, OPTIONS_of_an_asterisk_is_about_the_proxy_itself) {
    Proxy proxy;
    Client client(proxy);
    for (int time = 0; time < 2; ++time) {
        client.raw("OPTIONS * HTTP/1.1\r\nHost: 192.0.2.1\r\n\r\n");
        auto reply = client.expect();
        EXPECT_EQ(reply.status(), 200);
        EXPECT_TRUE(reply.complete());
    }
    EXPECT_EQ(client.connections(), 1);
}

}   // namespace garner::test
