// Squid as a parent of Garner: it fetches for Garner.
#include "story/mesh/squid.hpp"

namespace garner::test {

struct SquidAsParent : MeshWithSquid {
    json const never_direct{{"direct", {{"never", json::array({"all"})}}}};

    static auto missed() { return AnyOf("FIRST_PARENT_MISS", "CLOSEST_PARENT_MISS"); }
};

TEST_F(SquidAsParent, a_miss_goes_through_it_and_what_it_has_comes_from_it) {
    origin.answer("/one", fresh("1"));
    origin.answer("/two", fresh("2"));
    Squid squid(squid_with());
    Proxy proxy(ours({squid_as("parent")}));
    EXPECT_EQ(get(proxy, origin, "/one").body(), "1");
    EXPECT_EQ(hierarchy(proxy.logged("/one")), "FIRST_PARENT_MISS");
    EXPECT_EQ(peer(proxy.logged("/one")), "squid");
    EXPECT_EQ(squid.logged("/one", "UDP_MISS").size(), 1u);
    EXPECT_EQ(squid.logged("/one", "TCP_MISS").front().hierarchy, "HIER_DIRECT");

    EXPECT_EQ(squid.client().get(origin.url("/two")).body(), "2");
    EXPECT_EQ(get(proxy, origin, "/two").body(), "2");
    EXPECT_EQ(hierarchy(proxy.logged("/two")), "PARENT_HIT");
    EXPECT_EQ(squid.logged("/two", "UDP_HIT").size(), 1u);
    EXPECT_EQ(squid.logged("/two", "TCP_MEM_HIT").size(), 1u);
    EXPECT_EQ(origin.requests("/one"), 1u);
    EXPECT_EQ(origin.requests("/two"), 1u);
    EXPECT_TRUE(get(proxy, origin, "/one").hit());
}

TEST_F(SquidAsParent, what_is_stale_is_validated_through_it) {
    origin.answer("/page", {fresh("hello", 1, {{"ETag", "\"1\""}}),
                            {.status = 304, .fields = {{"ETag", "\"1\""}, {"Cache-Control", "max-age=600"}}}});
    Squid squid(squid_with());
    Proxy proxy(ours({squid_as("parent")}));
    EXPECT_EQ(get(proxy, origin, "/page").body(), "hello");
    pause_for(Millis{2'100});
    EXPECT_EQ(get(proxy, origin, "/page").body(), "hello");
    EXPECT_THAT(hierarchy(proxy.logged("/page", 2)), AnyOf(missed(), "PARENT_HIT"));
    // Squid may send the whole body again.
    EXPECT_THAT(proxy.logged("/page", 2).tag, StartsWith("TCP_REFRESH_"));
}

TEST_F(SquidAsParent, a_default_one_without_queries_is_not_asked) {
    origin.answer("/page", fresh("hello"));
    Squid squid(squid_with());
    Proxy proxy(ours({squid_as("parent", {{"icp_port", 0}, {"no_query", true}, {"default", true}})}));
    EXPECT_EQ(get(proxy, origin, "/page").body(), "hello");
    EXPECT_EQ(hierarchy(proxy.logged("/page")), "DEFAULT_PARENT");
    EXPECT_EQ(squid.logged("/page", "TCP_MISS").size(), 1u);
    EXPECT_EQ(squid.logged("/page").size(), 1u);
}

TEST_F(SquidAsParent, its_login_goes_with_the_request) {
    origin.answer("/page", fresh("hello"));
    Squid squid(squid_with("acl known req_header Proxy-Authorization ^Basic.dTpw$\nhttp_access deny !known\n"));
    Proxy proxy(ours({squid_as("parent", {{"login", "u:p"}})}, never_direct));
    EXPECT_EQ(get(proxy, origin, "/page").body(), "hello");
    EXPECT_EQ(origin.last("/page").head.field("Proxy-Authorization"), "");
    Client client(proxy);
    ASSERT_EQ(client.connect_to(origin.authority()).status(), 200);
    EXPECT_EQ(client.get("/page").body(), "hello");
}

// ---- never direct: for use behind a firewall ----

TEST_F(SquidAsParent, a_tunnel_goes_through_it_where_nothing_goes_direct) {
    auto const reel = pattern(2'000'000);
    origin.answer("/reel", no_store(reel));
    Squid squid(squid_with());
    Proxy proxy(ours({squid_as("parent")}, never_direct));
    Client client(proxy);
    ASSERT_EQ(client.connect_to(origin.authority()).status(), 200);
    EXPECT_TRUE(client.get("/reel").body() == reel);
    client.close();
    EXPECT_EQ(squid.logged(origin.authority(), "TCP_TUNNEL").front().method, "CONNECT");
    EXPECT_EQ(peer(proxy.logged(origin.authority())), "squid");
    EXPECT_EQ(proxy.logged(origin.authority()).tag, "TCP_TUNNEL");
}

TEST_F(SquidAsParent, POST_HEAD_and_reloads_go_through_it_where_nothing_goes_direct) {
    origin.answer("/form", no_store("done"));
    origin.answer("/page", fresh("hello"));
    Squid squid(squid_with());
    Proxy proxy(ours({squid_as("parent")}, never_direct));
    Client client(proxy, origin);
    EXPECT_EQ(client.post("/form", pattern(100'000)).body(), "done");
    EXPECT_TRUE(origin.last("/form").body == pattern(100'000));
    EXPECT_EQ(client.get("/page", {{"Cache-Control", "no-cache"}}).body(), "hello");
    EXPECT_EQ(client.head("/page").status(), 200);
    for (auto const* path : {"/form", "/page"}) EXPECT_GE(squid.logged(path, "TCP_").size(), 1u) << path;
    EXPECT_EQ(peer(proxy.logged("/form")), "squid");
}

TEST_F(SquidAsParent, an_origin_that_refuses_is_502_or_503_of_ours_and_not_tried_by_us) {
    auto const nobody = "http://127.0.0.1:" + std::to_string(free_port()) + "/page";
    Squid squid(squid_with());
    Proxy proxy(ours({squid_as("parent")}, never_direct));
    EXPECT_THAT(Client(proxy).get(nobody).status(), AnyOf(502, 503));
    EXPECT_EQ(peer(proxy.logged("/page")), "squid");
}

TEST_F(SquidAsParent, one_that_is_not_there_is_a_504_or_502_where_nothing_goes_direct) {
    origin.answer("/page", fresh("hello"));
    Squid squid(squid_with());
    Proxy proxy(ours({squid_as("parent")}, never_direct));
    squid.end(SIGKILL);
    EXPECT_THAT(get(proxy, origin, "/page").status(), AnyOf(502, 503, 504));
    EXPECT_EQ(origin.requests("/page"), 0u);
}

// ---- failures ----

TEST_F(SquidAsParent, one_that_dies_costs_at_most_one_wait_and_no_error) {
    origin.otherwise([](Hand& hand) { hand.answer(fresh("hello")); });
    Squid squid(squid_with());
    Proxy proxy(ours({squid_as("parent")}));
    EXPECT_EQ(get(proxy, origin, "/before").body(), "hello");
    squid.end(SIGKILL);
    for (int i = 0; i < 30; ++i) {
        auto reply = get(proxy, origin, "/" + std::to_string(i));
        EXPECT_TRUE(reply.ends_within(i == 0 ? Millis{2'500} : Millis{500})) << i;
        EXPECT_EQ(reply.body(), "hello") << i;
    }
    EXPECT_THAT(hierarchy(proxy.logged("/29")), EndsWith("HIER_DIRECT"));
}

TEST_F(SquidAsParent, one_that_stands_still_costs_at_most_one_wait_and_no_error) {
    origin.otherwise([](Hand& hand) { hand.answer(fresh("hello")); });
    Squid squid(squid_with());
    Proxy proxy(ours({squid_as("parent")}));
    EXPECT_EQ(get(proxy, origin, "/before").body(), "hello");
    squid.child().signal(SIGSTOP);
    for (int i = 0; i < 10; ++i) {
        auto reply = get(proxy, origin, "/" + std::to_string(i));
        EXPECT_TRUE(reply.ends_within(i == 0 ? Millis{2'500} : Millis{500})) << i;
        EXPECT_EQ(reply.body(), "hello") << i;
    }
    squid.child().signal(SIGCONT);
}

}   // namespace garner::test
