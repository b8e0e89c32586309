// Garner as a sibling and as a parent of Squid: Squid asks, Garner answers.
#include "story/mesh/squid.hpp"

namespace garner::test {

struct SquidAsks : MeshWithSquid {
    std::string us(Proxy const& proxy) const { return at_us(proxy.port()); }
    // Squid logs a request on a persistent connection with the hierarchy code of the request that opened it.
    static std::string only_parents() {
        return "never_direct allow all\nnonhierarchical_direct off\nserver_persistent_connections off\n";
    }
};

// ---- as a sibling of Squid ----

TEST_F(SquidAsks, its_sibling_for_what_we_have) {
    origin.answer("/page", fresh("hello"));
    Proxy proxy(ours({}));
    Squid squid(squid_with(us_as("sibling", proxy)));
    EXPECT_EQ(get(proxy, origin, "/page").body(), "hello");
    EXPECT_EQ(squid.client().get(origin.url("/page")).body(), "hello");
    auto const line = squid.logged("/page", "TCP_MISS").front();
    EXPECT_EQ(line.hierarchy, "SIBLING_HIT");
    EXPECT_EQ(line.server, us(proxy));
    EXPECT_EQ(proxy.logged("/page", 2).tag, "TCP_MEM_HIT");
    EXPECT_EQ(proxy.logged("/page", 2).all.value("client", ""), Squid::address);
    EXPECT_EQ(origin.requests("/page"), 1u);
    auto const said = squid.peer();
    EXPECT_EQ(said.status(), "Up");
    EXPECT_EQ(said.number("PINGS SENT"), 1);
    EXPECT_EQ(said.number("PINGS ACKED"), 1);
    EXPECT_EQ(said.number("IGNORED"), 0);
    EXPECT_EQ(said.number("FETCHES"), 1);
}

TEST_F(SquidAsks, its_sibling_for_what_we_do_not_have) {
    origin.otherwise([](Hand& hand) { hand.answer(fresh("hello")); });
    Proxy proxy(ours({}));
    Squid squid(squid_with(us_as("sibling", proxy)));
    auto client = squid.client();
    for (int i = 0; i < 20; ++i) EXPECT_EQ(client.get(origin.url("/" + std::to_string(i))).body(), "hello");
    for (int i = 0; i < 20; ++i) EXPECT_EQ(squid.logged("/" + std::to_string(i), "TCP_MISS").front().hierarchy, "HIER_DIRECT") << i;
    auto const said = squid.peer();
    EXPECT_EQ(said.status(), "Up");
    EXPECT_EQ(said.number("PINGS SENT"), 20);
    EXPECT_EQ(said.number("PINGS ACKED"), 20);
    EXPECT_EQ(said.number("FETCHES"), 0);
    EXPECT_TRUE(proxy.log().empty());
}

TEST_F(SquidAsks, by_every_one_of_many_clients_at_a_time_and_of_all_workers) {
    origin.otherwise([](Hand& hand) { hand.answer(fresh("at " + hand.request().head.target())); });
    Proxy proxy(ours({}, {{"workers", 3}}));
    Squid squid(squid_with(us_as("sibling", proxy)));
    Client warm(proxy, origin);
    for (int i = 0; i < 200; i += 2) EXPECT_EQ(warm.get("/" + std::to_string(i)).status(), 200);
    std::vector<Client> clients(20, squid.client());
    for (int i = 0; i < 200; i += 20) {
        std::vector<Reply> replies;
        for (int j = 0; j < 20; ++j) replies.push_back(clients[j].get(origin.url("/" + std::to_string(i + j))));
        for (int j = 0; j < 20; ++j) EXPECT_EQ(replies[j].body(), "at /" + std::to_string(i + j));
    }
    auto const said = squid.peer();
    EXPECT_EQ(said.number("PINGS SENT"), 200);
    EXPECT_EQ(said.number("PINGS ACKED"), 200);
    EXPECT_EQ(said.number("FETCHES"), 100);
    for (int i = 0; i < 200; ++i) EXPECT_EQ(origin.requests("/" + std::to_string(i)), 1u) << i;
}

// The stored response has no encoding, so an ICP query gets HIT; a request for gzip does not match it. Squid's only-if-cached
// request gets 504, and the client notices nothing.
TEST_F(SquidAsks, its_sibling_for_a_variant_that_we_do_not_have) {
    origin.by_hand("/page", [](Hand& hand) {
        hand.answer(fresh("as " + hand.request().head.field("Accept-Encoding"), 600, {{"Vary", "Accept-Encoding"}}));
    });
    Proxy proxy(ours({}));
    Squid squid(squid_with(us_as("sibling", proxy)));
    EXPECT_EQ(get(proxy, origin, "/page").body(), "as ");
    auto reply = squid.client().get(origin.url("/page"), {{"Accept-Encoding", "gzip"}});
    EXPECT_EQ(reply.status(), 200);
    EXPECT_EQ(reply.body(), "as gzip");
    EXPECT_EQ(proxy.logged("/page", 2).status, 504);
    EXPECT_THAT(squid.logged("/page", "TCP_MISS").front().hierarchy, EndsWith("HIER_DIRECT"));
    EXPECT_EQ(squid.peer().status(), "Up");
}

TEST_F(SquidAsks, its_sibling_that_refuses_it_misses) {
    origin.answer("/page", fresh("hello"));
    json const rule{{"deny", {{"source", json::array({Squid::address})}}}};
    Proxy proxy(ours({}, {{"misses", json::array({rule})}}));
    // Squid uses Garner as a parent, but may only get hits.
    Squid squid(squid_with(us_as("parent", proxy)));
    EXPECT_EQ(squid.client().get(origin.url("/page")).body(), "hello");
    EXPECT_EQ(proxy.logged("/page").status, 504);
    EXPECT_EQ(get(proxy, origin, "/page").body(), "hello");
    EXPECT_EQ(origin.requests("/page"), 2u);
}

TEST_F(SquidAsks, its_sibling_who_may_not_answer_it) {
    origin.answer("/page", fresh("hello"));
    Proxy proxy(ours({}, {{"icp", {{"allow", {"10.0.0.0/8"}}}}}));
    Squid squid(squid_with(us_as("sibling", proxy)));
    EXPECT_EQ(get(proxy, origin, "/page").body(), "hello");
    EXPECT_EQ(squid.client().get(origin.url("/page")).body(), "hello");
    EXPECT_THAT(squid.logged("/page", "TCP_MISS").front().hierarchy, EndsWith("HIER_DIRECT"));
    EXPECT_EQ(squid.peer().number("PINGS ACKED"), 1);
    EXPECT_EQ(squid.peer().number("ICP_DENIED"), 1);
    EXPECT_EQ(origin.requests("/page"), 2u);
}

// ---- as a parent of Squid ----

TEST_F(SquidAsks, its_parent_by_ICP) {
    origin.answer("/one", fresh("1"));
    origin.answer("/two", fresh("2"));
    Proxy proxy(ours({}));
    Squid squid(squid_with(us_as("parent", proxy) + only_parents()));
    EXPECT_EQ(squid.client().get(origin.url("/one")).body(), "1");
    EXPECT_EQ(squid.logged("/one", "TCP_MISS").front().hierarchy, "FIRST_PARENT_MISS");
    EXPECT_EQ(proxy.logged("/one").tag, "TCP_MISS");
    EXPECT_EQ(get(proxy, origin, "/two").body(), "2");
    EXPECT_EQ(squid.client().get(origin.url("/two")).body(), "2");
    EXPECT_EQ(squid.logged("/two", "TCP_MISS").front().hierarchy, "PARENT_HIT");
    EXPECT_EQ(squid.logged("/two", "TCP_MISS").front().server, us(proxy));
    EXPECT_EQ(proxy.logged("/two", 2).tag, "TCP_MEM_HIT");
    EXPECT_EQ(squid.peer().number("PINGS ACKED"), 2);
    EXPECT_EQ(squid.peer().number("FETCHES"), 2);
}

// Garner sends round-trip times that Squid requests (SRC_RTT), and Squid weighs its parents by them.
TEST_F(SquidAsks, its_parent_that_knows_how_far_the_origin_is) {
    origin.otherwise([](Hand& hand) { hand.answer(fresh("hello")); });
    Proxy proxy(ours({}));
    Squid squid(squid_with(us_as("parent", proxy) + only_parents() + "query_icmp on\n"));
    for (auto const* path : {"/one", "/two", "/three", "/four"}) EXPECT_EQ(squid.client().get(origin.url(path)).body(), "hello");
    EXPECT_EQ(squid.logged("/one", "TCP_MISS").front().hierarchy, "FIRST_PARENT_MISS");
    EXPECT_EQ(squid.logged("/four", "TCP_MISS").front().hierarchy, "CLOSEST_PARENT_MISS");
    EXPECT_EQ(squid.peer().number("PINGS ACKED"), 4);
}

TEST_F(SquidAsks, its_default_parent_without_queries) {
    origin.answer("/page", fresh("hello"));
    Proxy proxy(ours({}));
    Squid squid(squid_with(us_as("parent", proxy, "default no-query") + only_parents()));
    EXPECT_EQ(squid.client().get(origin.url("/page")).body(), "hello");
    EXPECT_EQ(squid.logged("/page", "TCP_MISS").front().hierarchy, "FIRSTUP_PARENT");
    EXPECT_EQ(proxy.logged("/page").tag, "TCP_MISS");
    EXPECT_EQ(squid.peer().number("FETCHES"), 1);
}

TEST_F(SquidAsks, its_parent_for_tunnels_and_posts) {
    auto const reel = pattern(1'000'000);
    origin.answer("/reel", no_store(reel));
    origin.answer("/form", no_store("done"));
    Proxy proxy(ours({}));
    Squid squid(squid_with(us_as("parent", proxy) + only_parents()));
    EXPECT_EQ(squid.client().post(origin.url("/form"), "x=1").body(), "done");
    EXPECT_EQ(proxy.logged("/form").method, "POST");
    auto client = squid.client();
    ASSERT_EQ(client.connect_to(origin.authority()).status(), 200);
    EXPECT_TRUE(client.get("/reel").body() == reel);
    client.close();
    EXPECT_EQ(proxy.logged(origin.authority()).tag, "TCP_TUNNEL");
    EXPECT_EQ(squid.logged(origin.authority(), "TCP_TUNNEL").front().server, us(proxy));
}

TEST_F(SquidAsks, its_parent_whose_origin_fails) {
    auto const nobody = "http://127.0.0.1:" + std::to_string(free_port()) + "/page";
    Proxy proxy(ours({}));
    Squid squid(squid_with(us_as("parent", proxy) + only_parents()));
    EXPECT_EQ(squid.client().get(nobody).status(), 502);
    EXPECT_EQ(squid.peer().status(), "Up");
}

}   // namespace garner::test
