// https URLs in a mesh: peers see only host and port.
#include "story/mesh/squid.hpp"
#include "support/fake_peer.hpp"

namespace garner::test {

namespace {

struct SecretUrls : MeshWithSquid {
    TempDir dir;
    Certificate certificate;
    Origin secure{{.certificate = &certificate}};

    /// Trusts the origin; with these peers, and one worker because connections are per worker.
    std::string child(std::vector<json> const& peers, json const& more = json::object()) const {
        json patch{{"workers", 1}, {"tls", {{"ca_file", dir.write("ca.pem", certificate.pem())}}}, {"peers", peers}};
        patch.merge_patch(more);
        return patch.dump();
    }
    static json never_direct() { return {{"direct", {{"never", {json::object()}}}}}; }
    static json parent(Proxy const& proxy) {
        return {{"name", "up"}, {"type", "parent"}, {"host", "127.0.0.1"}, {"http_port", proxy.port()}, {"icp_port", 0}};
    }
};

/// Expects that every line of the log is a CONNECT to the origin.
void expect_only_connects(Proxy const& proxy, Origin const& origin, std::size_t count) {
    EXPECT_TRUE(eventually([&] { return proxy.log().size() == count; })) << proxy.log().size();
    for (auto const& line : proxy.log()) {
        EXPECT_EQ(line.method, "CONNECT");
        EXPECT_EQ(line.url, origin.authority());
    }
}

}   // namespace

TEST_F(SecretUrls, are_asked_of_no_sibling_and_fetched_from_none) {
    secure.answer("/page?token=1", fresh("secret"));
    FakePeer sibling(Icp::hit), parent(Icp::hit);
    auto const peer = [](FakePeer& fake, char const* name, char const* type) {
        return json{
            {"name", name}, {"type", type}, {"host", "127.0.0.1"}, {"http_port", fake.http().port()}, {"icp_port", fake.icp()}};
    };
    Proxy proxy(child({peer(sibling, "side", "sibling"), peer(parent, "up", "parent")}));
    auto reply = get(proxy, secure, "/page?token=1", {{"Cookie", "sid=1"}});
    EXPECT_EQ(reply.body(), "secret");
    EXPECT_TRUE(get(proxy, secure, "/page?token=1").hit());
    EXPECT_EQ(sibling.queries() + parent.queries(), 0u);
    EXPECT_EQ(sibling.http().connections() + parent.http().connections(), 0u);
}

TEST_F(SecretUrls, go_through_a_parent_by_CONNECT_with_TLS_inside) {
    secure.answer("/page", fresh("secret"));
    secure.answer("/form", no_store("done"));
    Proxy up;
    Proxy proxy(child({parent(up)}, never_direct()));
    EXPECT_EQ(get(proxy, secure, "/page", {{"Cookie", "sid=1"}}).body(), "secret");
    EXPECT_EQ(secure.last("/page").head.target(), "/page");
    EXPECT_EQ(secure.last("/page").head.field("Cookie"), "sid=1");
    EXPECT_TRUE(get(proxy, secure, "/page").hit());
    // The tunnel stays open for the next request.
    auto const body = pattern(300'000);
    EXPECT_EQ(Client(proxy, secure).post("/form", body).body(), "done");
    EXPECT_TRUE(secure.last("/form").body == body);
    EXPECT_EQ(secure.connections(), 1u);
    EXPECT_EQ(proxy.logged("/form").all.value("peer", ""), "up");
    proxy.stop();
    expect_only_connects(up, secure, 1);
}

TEST_F(SecretUrls, go_past_a_parent_that_opens_no_tunnel_where_the_origin_may_be_asked) {
    secure.answer("/page", fresh("secret"));
    Proxy up(R"({"access": [{"deny": "all"}]})");
    auto bound = parent(up);
    bound["domains"] = {"127.0.0.1"};
    Proxy proxy(child({bound}));
    EXPECT_EQ(get(proxy, secure, "/page").body(), "secret");
    Proxy captive(child({bound}, never_direct()));
    auto refused = get(captive, secure, "/page");
    EXPECT_EQ(refused.status(), 502);
    EXPECT_THAT(refused.body(), HasSubstr("does not open the tunnel"));
    EXPECT_EQ(secure.requests("/page"), 1u);
}

TEST_F(SecretUrls, are_not_given_to_an_origin_whose_certificate_is_wrong_behind_a_parent) {
    secure.answer("/page", fresh("secret"));
    Proxy up;
    auto distrusting = never_direct();
    distrusting["peers"] = json::array({parent(up)});
    Proxy proxy(distrusting.dump());
    auto refused = get(proxy, secure, "/page");
    EXPECT_EQ(refused.status(), 502);
    EXPECT_THAT(refused.body(), HasSubstr("through the parent up"));
    EXPECT_EQ(secure.requests("/page"), 0u);
}

TEST_F(SecretUrls, go_through_Squid_by_CONNECT) {
    secure.answer("/page", fresh("secret"));
    Squid squid(squid_with("acl tunnels method CONNECT\nhttp_access allow tunnels\n"));
    Proxy proxy(child({squid_as("parent")}, never_direct()));
    EXPECT_EQ(get(proxy, secure, "/page").body(), "secret");
    EXPECT_TRUE(get(proxy, secure, "/page").hit());
    proxy.stop();
    for (auto const& line : squid.log()) EXPECT_THAT(line.url, Not(HasSubstr("/page")));
}

}   // namespace garner::test
