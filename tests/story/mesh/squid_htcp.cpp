// HTCP between Garner and Squid in place of ICP.
#include "story/mesh/squid.hpp"

namespace garner::test {

struct SquidByHtcp : MeshWithSquid {
    json by_htcp(std::string const& type) const { return squid_as(type, {{"icp_port", 0}, {"htcp_port", squid_ports.htcp}}); }
    std::string answering(std::vector<json> const& peers) const {
        json const htcp{{"address", at_us(our_htcp)}, {"allow", {"127.0.0.0/8"}}, {"clear_allow", {"127.0.0.0/8"}}};
        return ours(peers, {{"htcp", htcp}});
    }
    std::string us_by_htcp(std::string const& type, Proxy const& proxy, std::string const& how = "htcp=no-clr") const {
        return "cache_peer 127.0.0.1 " + type + " " + std::to_string(proxy.port()) + " " + std::to_string(our_htcp) +
               " no-digest no-netdb-exchange name=garner " + how + "\n";
    }
    static std::size_t asked(Squid const& squid, std::string const& method) {
        std::size_t count = 0;
        for (auto const& line : squid.log()) count += line.method == method;
        return count;
    }
};

TEST_F(SquidByHtcp, a_sibling_gives_what_it_has) {
    origin.answer("/page", fresh("hello"));
    origin.answer("/other", fresh("other"));
    Squid squid(squid_with());
    Proxy proxy(answering({by_htcp("sibling")}));
    EXPECT_EQ(squid.client().get(origin.url("/page")).body(), "hello");
    EXPECT_EQ(get(proxy, origin, "/page").body(), "hello");
    EXPECT_EQ(get(proxy, origin, "/other").body(), "other");
    EXPECT_EQ(hierarchy(proxy.logged("/page")), "SIBLING_HIT");
    EXPECT_EQ(hierarchy(proxy.logged("/other")), "HIER_DIRECT");
    EXPECT_EQ(squid.logged("/page", "UDP_HIT").front().method, "HTCP_TST");
    EXPECT_EQ(squid.logged("/other", "UDP_MISS").front().method, "HTCP_TST");
    EXPECT_EQ(asked(squid, "ICP_QUERY"), 0u);
    EXPECT_EQ(origin.requests("/page"), 1u);
}

TEST_F(SquidByHtcp, a_parent_fetches) {
    origin.answer("/page", fresh("hello"));
    Squid squid(squid_with());
    Proxy proxy(answering({by_htcp("parent")}));
    EXPECT_EQ(get(proxy, origin, "/page").body(), "hello");
    EXPECT_EQ(hierarchy(proxy.logged("/page")), "FIRST_PARENT_MISS");
    EXPECT_EQ(asked(squid, "HTCP_TST"), 1u);
}

TEST_F(SquidByHtcp, Squid_gets_from_its_sibling_what_that_has) {
    origin.answer("/page", fresh("hello"));
    origin.answer("/other", fresh("other"));
    Proxy proxy(answering({}));
    Squid squid(squid_with(us_by_htcp("sibling", proxy)));
    EXPECT_EQ(get(proxy, origin, "/page").body(), "hello");
    EXPECT_EQ(squid.client().get(origin.url("/page")).body(), "hello");
    EXPECT_EQ(squid.client().get(origin.url("/other")).body(), "other");
    EXPECT_EQ(squid.logged("/page", "TCP_MISS").front().hierarchy, "SIBLING_HIT");
    EXPECT_EQ(squid.logged("/other", "TCP_MISS").front().hierarchy, "HIER_DIRECT");
    auto const said = squid.peer();
    EXPECT_EQ(said.status(), "Up");
    EXPECT_EQ(said.number("PINGS SENT"), 2);
    EXPECT_EQ(said.number("PINGS ACKED"), 2);
    EXPECT_EQ(origin.requests("/page"), 1u);
}

TEST_F(SquidByHtcp, both_ways) {
    origin.otherwise([](Hand& hand) { hand.answer(fresh("hello")); });
    Proxy proxy(answering({by_htcp("sibling")}));
    Squid squid(squid_with(us_by_htcp("sibling", proxy)));
    for (int i = 0; i < 10; ++i) {
        auto const ours = "/ours/" + std::to_string(i), theirs = "/theirs/" + std::to_string(i);
        EXPECT_EQ(get(proxy, origin, ours).body(), "hello");
        EXPECT_EQ(squid.client().get(origin.url(theirs)).body(), "hello");
        EXPECT_EQ(get(proxy, origin, theirs).body(), "hello");
        EXPECT_EQ(squid.client().get(origin.url(ours)).body(), "hello");
        EXPECT_EQ(origin.requests(ours), 1u);
        EXPECT_EQ(origin.requests(theirs), 1u);
    }
    EXPECT_EQ(squid.peer().status(), "Up");
}

}   // namespace garner::test
