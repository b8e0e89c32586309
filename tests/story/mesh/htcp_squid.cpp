// HTCP between Garner and Debian's Squid: queries and purges in both directions.
#include "story/mesh/squid.hpp"

namespace garner::test {

struct HtcpWithSquid : MeshWithSquid {
    /// Squid as a peer of Garner over HTCP.
    json squid_over_htcp(std::string const& type) const {
        return squid_as(type, {{"icp_port", 0}, {"htcp_port", squid_ports.htcp}});
    }
    /// Garner's configuration with HTCP, with `more` merged over it.
    std::string ours_over_htcp(std::vector<json> const& peers, json const& more = json::object()) const {
        json patch{{"icp", {{"address", ""}}},
                   {"htcp", {{"address", at_us(our_htcp)}, {"allow", {"127.0.0.0/8"}}, {"clear_allow", {"127.0.0.0/8"}}}}};
        patch.merge_patch(more);
        return ours(peers, patch);
    }
    /// Garner as a sibling of Squid over HTCP.
    std::string us_over_htcp(Proxy const& proxy) const {
        return "cache_peer 127.0.0.1 sibling " + std::to_string(proxy.port()) + " " + std::to_string(our_htcp) +
               " htcp no-digest no-netdb-exchange name=garner\n";
    }
};

TEST_F(HtcpWithSquid, what_Squid_has_comes_from_it) {
    origin.answer("/page", fresh("hello"));
    origin.answer("/other", fresh("other"));
    Squid squid(squid_with());
    Proxy proxy(ours_over_htcp({squid_over_htcp("sibling")}));
    EXPECT_EQ(squid.client().get(origin.url("/page")).body(), "hello");
    EXPECT_EQ(get(proxy, origin, "/page").body(), "hello");
    EXPECT_EQ(hierarchy(proxy.logged("/page")), "SIBLING_HIT");
    EXPECT_EQ(squid.logged("/page", "UDP_HIT").front().method, "HTCP_TST");
    EXPECT_EQ(origin.requests("/page"), 1u);

    EXPECT_EQ(get(proxy, origin, "/other").body(), "other");
    EXPECT_EQ(hierarchy(proxy.logged("/other")), "HIER_DIRECT");
    EXPECT_EQ(squid.logged("/other", "UDP_MISS").front().method, "HTCP_TST");
}

TEST_F(HtcpWithSquid, what_Garner_has_Squid_takes_from_it) {
    origin.answer("/page", fresh("hello"));
    Proxy proxy(ours_over_htcp({}));
    EXPECT_EQ(get(proxy, origin, "/page").body(), "hello");
    Squid squid(squid_with(us_over_htcp(proxy)));
    // The first query shows that Garner is alive.
    EXPECT_TRUE(eventually([&, i = 0]() mutable {
        auto const path = "/first/" + std::to_string(i++);
        origin.answer(path, fresh("x"));
        squid.client().get(origin.url(path)).body();
        return squid.peer().number("PINGS ACKED") > 0;
    }));
    EXPECT_EQ(squid.client().get(origin.url("/page")).body(), "hello");
    EXPECT_EQ(squid.logged("/page", "TCP_MISS").front().hierarchy, "SIBLING_HIT");
    EXPECT_EQ(origin.requests("/page"), 1u);
    EXPECT_EQ(squid.peer().status(), "Up");
}

TEST_F(HtcpWithSquid, our_purge_reaches_Squid) {
    origin.answer("/page", fresh("hello"));
    Squid squid(squid_with("htcp_clr_access allow all\n"));
    Proxy proxy(ours_over_htcp({squid_over_htcp("sibling")}));
    auto const url = origin.url("/page");
    squid.client().get(url).body();
    auto reply = Client(proxy).send("PURGE", url);
    EXPECT_EQ(reply.status(), 200);
    EXPECT_THAT(reply.body(), EndsWith("peer squid: purged\n"));
    squid.client().get(url).body();
    EXPECT_EQ(squid.logged("/page", "TCP_MISS", 2).size(), 2u);
    EXPECT_EQ(origin.requests("/page"), 2u);
    // In no cache.
    EXPECT_THAT(Client(proxy).send("PURGE", origin.url("/never")).status(), 404);
}

// When Squid replaces a response, it sends CLR to its peers and does not wait for a reply.
TEST_F(HtcpWithSquid, what_Squid_says_is_gone_is_gone_here) {
    origin.answer("/page", fresh("hello"));
    Proxy proxy(ours_over_htcp({}));
    EXPECT_EQ(get(proxy, origin, "/page").body(), "hello");
    Squid squid(squid_with(us_over_htcp(proxy)));
    auto const url = origin.url("/page");
    squid.client().get(url).body();
    EXPECT_TRUE(get(proxy, origin, "/page").hit());
    squid.client().get(url, {{"Cache-Control", "no-cache"}}).body();
    auto const before = origin.requests("/page");
    EXPECT_TRUE(eventually([&] {
        Client client(proxy);
        return client.get(url, {{"Cache-Control", "only-if-cached"}}).status() == 504;
    }));
    EXPECT_EQ(origin.requests("/page"), before);
}

}   // namespace garner::test
