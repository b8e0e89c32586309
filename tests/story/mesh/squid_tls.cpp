// Squid as a parent over TLS, and as a child of a Garner with a TLS listener.
#include "story/mesh/squid.hpp"
#include "story/tls/secure_listener.hpp"

namespace garner::test {

namespace {

struct SquidOverTls : MeshWithSquid {
    CertificateFiles squid_files{"squid.test"}, our_files{"garner.test"}, origin_files{"origin.test"};

    Squid::Setup secure_squid(std::string const& directives = "") const {
        return {.directives = directives,
                .ports = squid_ports,
                .certificate = &squid_files.certificate,
                .client_ca = our_files.chain(),
                .origin_ca = origin_files.chain()};
    }
    /// Squid as a peer at its TLS port; only through it.
    std::string child_of_squid(json const& more = json::object()) const {
        json const tls{{"ca_file", squid_files.chain()},
                       {"server_name", "squid.test"},
                       {"chain", our_files.chain()},
                       {"key", our_files.key()}};
        json peer{{"http_port", squid_ports.https}, {"icp_port", 0}, {"no_query", true}, {"tls", tls}};
        peer.merge_patch(more);
        return ours({squid_as("parent", peer)},
                    {{"direct", {{"never", json::array({"all"})}}}, {"tls", {{"ca_file", origin_files.chain()}}}});
    }
    Origin secure{Origin::Setup{.certificate = &origin_files.certificate}};
};

}   // namespace

TEST_F(SquidOverTls, a_parent_gets_http_and_https_requests_and_caches_both) {
    origin.answer("/page", fresh("open"));
    secure.answer("/secret", fresh("secret"));
    Squid squid(secure_squid());
    {
        Proxy one(child_of_squid());
        EXPECT_EQ(get(one, origin, "/page").body(), "open");
        EXPECT_EQ(get(one, secure, "/secret").body(), "secret");
        EXPECT_EQ(one.logged("/secret").all.value("peer_reach", ""), "TLS");
        EXPECT_EQ(squid.logged("/secret", "TCP_MISS").front().method, "GET");
    }
    Proxy other(child_of_squid());
    EXPECT_EQ(get(other, secure, "/secret").body(), "secret");
    EXPECT_EQ(squid.logged("/secret", "TCP_MEM_HIT").size(), 1u);
    EXPECT_EQ(secure.requests("/secret"), 1u);
}

TEST_F(SquidOverTls, a_parent_opens_tunnels_for_clients_and_for_https_requests) {
    secure.answer("/secret", no_store("secret"));
    origin.answer("/page", no_store("open"));
    Squid squid(secure_squid("acl any_port port 1-65535\nhttp_access allow CONNECT any_port\n"));
    Proxy proxy(child_of_squid({{"https", "tunnel"}}));
    EXPECT_EQ(get(proxy, secure, "/secret").body(), "secret");
    EXPECT_EQ(proxy.logged("/secret").all.value("peer_reach", ""), "CONNECT over TLS");
    {
        Client client(proxy);
        ASSERT_EQ(client.connect_to(origin.authority()).status(), 200);
        EXPECT_EQ(client.get("/page").body(), "open");
    }
    EXPECT_EQ(squid.logged(origin.authority()).front().method, "CONNECT");
    proxy.stop();
    EXPECT_EQ(squid.logged(secure.authority()).front().method, "CONNECT");
}

TEST_F(SquidOverTls, a_parent_that_wants_another_certificate_is_not_used) {
    origin.answer("/page", fresh("open"));
    auto setup = secure_squid();
    setup.client_ca = origin_files.chain();
    Squid squid(setup);
    Proxy proxy(child_of_squid());
    EXPECT_EQ(get(proxy, origin, "/page").status(), 502);
    EXPECT_EQ(origin.requests("/page"), 0u);
}

TEST_F(SquidOverTls, its_digest_is_fetched_over_TLS) {
    origin.answer("/page", fresh("open"));
    auto setup = secure_squid();
    setup.disk = true;
    Squid squid(setup);
    EXPECT_EQ(squid.client().get(origin.url("/page")).body(), "open");
    Proxy proxy(child_of_squid({{"digest", true}}));
    EXPECT_TRUE(eventually([&] { return proxy.errors().find("fetched its cache digest of") != std::string::npos; }, 60s))
        << proxy.errors();
}

TEST_F(SquidOverTls, a_child_reaches_a_Garner_with_its_certificate) {
    origin.answer("/page", fresh("open"));
    secure.answer("/secret", fresh("secret"));
    auto const tls = our_files.tls(R"(, "client_ca": ")" + squid_files.chain() + "\"");
    Proxy proxy(Proxy::Setup{.patch = ours({}, {{"tls", {{"ca_file", origin_files.chain()}}}}), .tls = tls});
    Squid squid(squid_with("cache_peer 127.0.0.1 parent " + std::to_string(proxy.secure()) +
                           " 0 no-query default no-digest no-netdb-exchange name=garner tls tls-cafile=" + our_files.chain() +
                           " tls-cert=" + squid_files.chain() + " tls-key=" + squid_files.key() +
                           " ssldomain=garner.test\nnever_direct allow all\nnonhierarchical_direct off\n"));
    EXPECT_EQ(squid.client().get(origin.url("/page")).body(), "open");
    EXPECT_EQ(proxy.logged("/page").all.value("user", ""), "squid.test");
    Client client = squid.client();
    ASSERT_EQ(client.connect_to(secure.authority()).status(), 200);
    client.start_tls("origin.test");
    EXPECT_EQ(client.get("/secret").body(), "secret");
    client.close();
    EXPECT_EQ(proxy.logged(secure.authority()).method, "CONNECT");
}

}   // namespace garner::test
