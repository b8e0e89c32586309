// Squid as a sibling of Garner: it is queried by ICP, and serves its hits.
#include "story/mesh/squid.hpp"

namespace garner::test {

struct SquidAsSibling : MeshWithSquid {};

TEST_F(SquidAsSibling, what_it_has_comes_from_it_and_not_from_the_origin) {
    origin.answer("/page", fresh("hello"));
    Squid squid(squid_with());
    Proxy proxy(ours({squid_as("sibling")}));
    EXPECT_EQ(squid.client().get(origin.url("/page")).body(), "hello");

    auto reply = get(proxy, origin, "/page");
    EXPECT_EQ(reply.body(), "hello");
    EXPECT_THAT(reply.field("Via"), HasSubstr("squid"));
    EXPECT_THAT(reply.detail(), HasSubstr("SIBLING_HIT/squid"));
    EXPECT_EQ(hierarchy(proxy.logged("/page")), "SIBLING_HIT");
    EXPECT_EQ(peer(proxy.logged("/page")), "squid");
    EXPECT_EQ(squid.logged("/page", "UDP_HIT").front().method, "ICP_QUERY");
    EXPECT_EQ(squid.logged("/page", "TCP_MEM_HIT").front().status, 200);
    EXPECT_EQ(origin.requests("/page"), 1u);

    EXPECT_TRUE(get(proxy, origin, "/page").hit());
    EXPECT_EQ(squid.logged("/page", "UDP_HIT").size(), 1u);
}

TEST_F(SquidAsSibling, what_it_does_not_have_comes_from_the_origin_without_a_request_to_it) {
    origin.answer("/page", fresh("hello"));
    Squid squid(squid_with());
    Proxy proxy(ours({squid_as("sibling")}));
    EXPECT_EQ(get(proxy, origin, "/page").body(), "hello");
    EXPECT_EQ(hierarchy(proxy.logged("/page")), "HIER_DIRECT");
    EXPECT_EQ(squid.logged("/page", "UDP_MISS").size(), 1u);
    EXPECT_EQ(squid.logged("/page").size(), 1u);
    EXPECT_EQ(origin.requests("/page"), 1u);
}

TEST_F(SquidAsSibling, a_proxy_only_one_is_asked_again_each_time) {
    origin.otherwise([](Hand& hand) { hand.answer(fresh("hello")); });
    Squid squid(squid_with());
    Proxy proxy(ours({squid_as("sibling", {{"proxy_only", true}})}));
    int came_from_it = 0;
    for (int i = 0; i < 10; ++i) {
        auto const path = "/" + std::to_string(i);
        EXPECT_EQ(squid.client().get(origin.url(path)).body(), "hello");
        EXPECT_EQ(get(proxy, origin, path).body(), "hello");
        // On a busy machine its reply may be late.
        if (hierarchy(proxy.logged(path)) != "SIBLING_HIT") continue;
        ++came_from_it;
        EXPECT_FALSE(get(proxy, origin, path).hit());
        EXPECT_EQ(squid.logged(path, "UDP_HIT", 2).size(), 2u);
    }
    EXPECT_GE(came_from_it, 1);
}

TEST_F(SquidAsSibling, a_large_object_comes_whole) {
    auto const reel = pattern(3'000'000);
    origin.answer("/reel", fresh(reel));
    Squid squid(squid_with());
    Proxy proxy(ours({squid_as("sibling")}));
    EXPECT_TRUE(squid.client().get(origin.url("/reel")).body() == reel);
    EXPECT_TRUE(get(proxy, origin, "/reel").body() == reel);
    EXPECT_EQ(hierarchy(proxy.logged("/reel")), "SIBLING_HIT");
    EXPECT_TRUE(get(proxy, origin, "/reel").body() == reel);
    EXPECT_EQ(origin.requests("/reel"), 1u);
}

TEST_F(SquidAsSibling, many_clients_of_one_page_ask_it_once) {
    origin.answer("/page", fresh("hello"));
    Squid squid(squid_with());
    Proxy proxy(ours({squid_as("sibling")}));
    EXPECT_EQ(squid.client().get(origin.url("/page")).body(), "hello");
    std::vector<Client> clients(30, Client(proxy, origin));
    std::vector<Reply> replies;
    for (auto& client : clients) replies.push_back(client.get("/page"));
    for (auto& reply : replies) EXPECT_EQ(reply.body(), "hello");
    EXPECT_EQ(squid.logged("/page", "UDP_HIT").size(), 1u);
    EXPECT_EQ(origin.requests("/page"), 1u);
}

TEST_F(SquidAsSibling, unsafe_and_reloading_requests_do_not_ask_it) {
    origin.answer("/form", no_store("done"));
    origin.answer("/page", fresh("hello"));
    Squid squid(squid_with());
    Proxy proxy(ours({squid_as("sibling")}));
    EXPECT_EQ(squid.client().get(origin.url("/page")).body(), "hello");
    EXPECT_EQ(Client(proxy, origin).post("/form", "x").body(), "done");
    EXPECT_EQ(get(proxy, origin, "/page", {{"Cache-Control", "no-cache"}}).body(), "hello");
    EXPECT_EQ(hierarchy(proxy.logged("/form")), "HIER_DIRECT");
    EXPECT_EQ(hierarchy(proxy.logged("/page")), "HIER_DIRECT");
    for (auto const& line : squid.log()) EXPECT_NE(line.method, "ICP_QUERY") << line.url;
    EXPECT_EQ(origin.requests("/page"), 2u);
}

TEST_F(SquidAsSibling, a_part_of_what_it_has_comes_from_it) {
    auto const reel = pattern(500'000);
    origin.answer("/reel", fresh(reel, 600, {{"ETag", "\"1\""}}));
    Squid squid(squid_with());
    Proxy proxy(ours({squid_as("sibling")}));
    EXPECT_TRUE(squid.client().get(origin.url("/reel")).body() == reel);
    auto part = get(proxy, origin, "/reel", {{"Range", "bytes=1000-1999"}});
    EXPECT_EQ(part.status(), 206);
    EXPECT_TRUE(part.body() == reel.substr(1000, 1000));
    EXPECT_EQ(hierarchy(proxy.logged("/reel")), "SIBLING_HIT");
    EXPECT_TRUE(get(proxy, origin, "/reel").body() == reel);
    EXPECT_EQ(origin.requests("/reel"), 1u);
}

TEST_F(SquidAsSibling, what_is_stale_here_and_fresh_there_is_validated_there) {
    origin.answer("/page", {fresh("hello", 1, {{"ETag", "\"1\""}}), fresh("hello", 600, {{"ETag", "\"1\""}})});
    Squid squid(squid_with());
    Proxy proxy(ours({squid_as("sibling")}));
    EXPECT_EQ(get(proxy, origin, "/page").body(), "hello");
    EXPECT_EQ(squid.client().get(origin.url("/page")).body(), "hello");
    pause_for(Millis{2'100});
    EXPECT_EQ(get(proxy, origin, "/page").body(), "hello");
    EXPECT_EQ(hierarchy(proxy.logged("/page", 2)), "SIBLING_HIT");
    EXPECT_EQ(proxy.logged("/page", 2).tag, "TCP_REFRESH_UNMODIFIED");
    EXPECT_EQ(origin.requests("/page"), 2u);
    EXPECT_TRUE(get(proxy, origin, "/page").hit());
}

// ---- false hits: a HIT reply without the object ----

TEST_F(SquidAsSibling, what_went_stale_there_comes_from_the_origin) {
    origin.answer("/page", {fresh("old", 1), fresh("new")});
    Squid squid(squid_with("icp_hit_stale on\n"));
    Proxy proxy(ours({squid_as("sibling")}));
    EXPECT_EQ(squid.client().get(origin.url("/page")).body(), "old");
    pause_for(Millis{2'500});
    auto reply = get(proxy, origin, "/page");
    EXPECT_EQ(reply.status(), 200);
    EXPECT_EQ(reply.body(), "new");
    EXPECT_EQ(squid.logged("/page", "UDP_HIT").size(), 1u);
    EXPECT_EQ(squid.logged("/page", "TCP_").back().status, 504);
    EXPECT_EQ(hierarchy(proxy.logged("/page")), "HIER_DIRECT");
}

// ICP has no request headers: Squid replies HIT for a URL of which it has another variant.
TEST_F(SquidAsSibling, another_variant_comes_from_the_origin) {
    origin.by_hand("/page", [](Hand& hand) {
        hand.answer(fresh("in " + hand.request().head.field("Accept-Language"), 600, {{"Vary", "Accept-Language"}}));
    });
    Squid squid(squid_with());
    Proxy proxy(ours({squid_as("sibling")}));
    EXPECT_EQ(squid.client().get(origin.url("/page"), {{"Accept-Language", "da"}}).body(), "in da");
    auto reply = get(proxy, origin, "/page", {{"Accept-Language", "nl"}});
    EXPECT_EQ(reply.status(), 200);
    EXPECT_EQ(reply.body(), "in nl");
    EXPECT_EQ(squid.logged("/page", "UDP_HIT").size(), 1u);
    EXPECT_EQ(squid.logged("/page", "TCP_").back().status, 504);
    EXPECT_EQ(get(proxy, origin, "/page", {{"Accept-Language", "nl"}}).body(), "in nl");
    EXPECT_EQ(origin.requests("/page"), 2u);
}

TEST_F(SquidAsSibling, one_that_answers_and_then_refuses_us_costs_the_client_nothing) {
    origin.answer("/page", fresh("hello"));
    Squid squid(squid_with("acl us src 127.0.0.1\nacl asked urlpath_regex ^/page\n"
                           "acl cached req_header Cache-Control only-if-cached\nhttp_access deny us asked cached\n"));
    Proxy proxy(ours({squid_as("sibling")}));
    EXPECT_EQ(squid.client().get(origin.url("/page")).body(), "hello");
    auto reply = get(proxy, origin, "/page");
    EXPECT_EQ(reply.status(), 200);
    EXPECT_EQ(reply.body(), "hello");
    EXPECT_EQ(squid.logged("/page", "UDP_HIT").size(), 1u);
    EXPECT_EQ(squid.logged("/page", "TCP_DENIED").size(), 1u);
}

// ---- failures ----

TEST_F(SquidAsSibling, one_that_is_not_there_costs_one_wait_and_no_error) {
    origin.otherwise([](Hand& hand) { hand.answer(fresh("hello")); });
    Squid squid(squid_with());
    Proxy proxy(ours({squid_as("sibling")}));
    EXPECT_EQ(get(proxy, origin, "/before").body(), "hello");
    squid.end(SIGKILL);
    for (int i = 0; i < 30; ++i) {
        auto reply = get(proxy, origin, "/" + std::to_string(i));
        EXPECT_TRUE(reply.ends_within(i == 0 ? Millis{2'500} : Millis{500})) << i;
        EXPECT_EQ(reply.body(), "hello") << i;
    }
}

TEST_F(SquidAsSibling, one_that_comes_back_is_used_again) {
    origin.otherwise([](Hand& hand) { hand.answer(fresh("hello")); });
    auto squid = std::make_unique<Squid>(squid_with());
    Proxy proxy(ours({squid_as("sibling")}));
    EXPECT_EQ(get(proxy, origin, "/before").body(), "hello");
    squid->end(SIGKILL);
    for (int i = 0; i < 25; ++i) EXPECT_EQ(get(proxy, origin, "/gone/" + std::to_string(i)).body(), "hello");
    squid = std::make_unique<Squid>(squid_with());
    EXPECT_EQ(squid->client().get(origin.url("/page")).body(), "hello");
    // After its return, the first query shows that it is alive, and later ones wait for it again.
    EXPECT_TRUE(eventually([&, i = 0]() mutable {
        auto const path = "/back/" + std::to_string(i++);
        EXPECT_EQ(squid->client().get(origin.url(path)).body(), "hello");
        EXPECT_EQ(get(proxy, origin, path).body(), "hello");
        return hierarchy(proxy.logged(path)) == "SIBLING_HIT";
    }));
}

}   // namespace garner::test
