// Parents that DNS names by SRV records: they join, leave and stand by, and an outage of DNS changes nothing.
#include <signal.h>

#include <set>

#include "story/scene.hpp"
#include "support/fake_dns.hpp"

namespace garner::test {

namespace {

constexpr auto service = "_http._tcp.caches.test";

struct ServedByDns : ::testing::Test {
    ServedByDns() {
        origin.otherwise([](Hand& hand) { hand.answer(no_store("page")); });
        for (auto const* host : {"a.test", "b.test", "c.test"}) dns.set(host, {.v4 = {"127.0.0.1"}});
    }
    FakeDns::Server server(Proxy const& parent, std::string const& host, std::uint16_t priority = 10, std::uint16_t weight = 1) {
        return {priority, weight, parent.port(), host};
    }
    void name(std::vector<FakeDns::Server> servers) { dns.set(service, {.servers = std::move(servers), .ttl = 1}); }
    void start_child(bool srv_local = true) {
        nlohmann::json const patch{
            {"dns", {{"servers", {dns.server()}}, {"hosts_file", ""}}},
            {"peers", {{{"name", "caches"}, {"srv", service}, {"srv_local", srv_local}, {"no_query", true}, {"icp_port", 0}}}}};
        child = std::make_unique<Proxy>(patch.dump());
    }
    std::set<std::string> peers() const {
        std::set<std::string> names;
        auto const stats = child->stats();
        for (auto const& peer : stats["peers"]) names.insert(peer["name"].get<std::string>());
        return names;
    }
    std::string peer(Proxy const& parent, std::string const& host) const {
        return "caches/" + host + ":" + std::to_string(parent.port());
    }
    ::testing::AssertionResult has(std::set<std::string> const& names) const {
        if (eventually([&] { return peers() == names; })) return ::testing::AssertionSuccess();
        return ::testing::AssertionFailure() << "peers are " << ::testing::PrintToString(peers());
    }
    int status(std::string const& path) { return get(*child, origin, path).status(); }

    FakeDns dns;
    Origin origin;
    Proxy a, b;
    std::unique_ptr<Proxy> child;
};

}   // namespace

TEST_F(ServedByDns, a_server_of_this_machine_is_no_parent_unless_the_operator_permits_it) {
    name({server(a, "a.test")});
    start_child(false);
    EXPECT_TRUE(child->says("DNS names a.test:" + std::to_string(a.port()) + " at a local address")) << child->errors();
    EXPECT_EQ(status("/direct"), 200);
    EXPECT_EQ(peers(), std::set<std::string>());
}

TEST_F(ServedByDns, a_parent_has_its_host_and_port_from_DNS) {
    name({server(a, "a.test")});
    start_child();
    ASSERT_TRUE(has({peer(a, "a.test")}));
    EXPECT_EQ(status("/one"), 200);
    EXPECT_EQ(a.logged("/one").status, 200);
    EXPECT_THAT(child->logged("/one").all.dump(), HasSubstr(peer(a, "a.test")));
}

TEST_F(ServedByDns, new_ones_join_and_gone_ones_leave_after_their_requests) {
    auto slow = origin.hold("/slow");
    name({server(a, "a.test")});
    start_child();
    ASSERT_TRUE(has({peer(a, "a.test")}));
    Client client(*child, origin);
    auto film = client.get("/slow");
    slow.arrived();
    name({server(b, "b.test")});
    ASSERT_TRUE(has({peer(b, "b.test")}));
    EXPECT_EQ(status("/two"), 200);
    EXPECT_EQ(b.logged("/two").status, 200);
    slow.release("film");
    EXPECT_EQ(film.body(), "film");
    EXPECT_EQ(a.logged("/slow").status, 200);
    EXPECT_TRUE(child->says("DNS no longer names a.test:")) << child->errors();
}

TEST_F(ServedByDns, one_of_a_higher_priority_value_is_used_when_the_others_are_dead) {
    name({server(a, "a.test", 10), server(b, "b.test", 20)});
    start_child();
    ASSERT_TRUE(has({peer(a, "a.test"), peer(b, "b.test")}));
    for (int i = 0; i < 20; ++i) EXPECT_EQ(status("/first/" + std::to_string(i)), 200);
    EXPECT_EQ(b.log().size(), 0u);
    a.kill();
    for (int i = 0; i < 20; ++i) EXPECT_EQ(status("/second/" + std::to_string(i)), 200);
    EXPECT_EQ(b.logged("/second/0").status, 200) << "already the request that finds it dead";
    EXPECT_EQ(b.logged("/second/19").status, 200);
}

TEST_F(ServedByDns, an_outage_of_DNS_changes_nothing) {
    name({server(a, "a.test")});
    start_child();
    ASSERT_TRUE(has({peer(a, "a.test")}));
    for (auto const kind : {FakeDns::Name::servfail, FakeDns::Name::nxdomain, FakeDns::Name::garbage}) {
        dns.set(service, {.kind = kind});
        auto const asked = dns.queries(service).udp;
        ASSERT_TRUE(eventually([&] { return dns.queries(service).udp > asked; }));
        auto const path = "/" + std::to_string(kind);
        EXPECT_EQ(status(path), 200);
        EXPECT_EQ(a.logged(path).status, 200);
    }
    EXPECT_TRUE(child->says(std::string("the servers of ") + service + " are unknown")) << child->errors();
    name({server(a, "a.test"), server(b, "b.test")});
    EXPECT_TRUE(has({peer(a, "a.test"), peer(b, "b.test")}));
}

TEST_F(ServedByDns, a_proxy_is_no_peer_of_itself) {
    name({server(a, "a.test")});
    start_child();
    ASSERT_TRUE(has({peer(a, "a.test")}));
    name({server(*child, "c.test"), server(b, "b.test")});
    EXPECT_TRUE(has({peer(b, "b.test")}));
}

TEST_F(ServedByDns, a_service_that_is_not_offered_has_no_peers) {
    name({server(a, "a.test")});
    start_child();
    ASSERT_TRUE(has({peer(a, "a.test")}));
    name({{0, 0, 0, ""}});
    ASSERT_TRUE(has({}));
    EXPECT_EQ(status("/direct"), 200);
    EXPECT_EQ(a.log().size(), 0u);
}

TEST_F(ServedByDns, a_reload_keeps_the_servers_of_a_service_that_stays) {
    name({server(a, "a.test")});
    start_child();
    ASSERT_TRUE(has({peer(a, "a.test")}));
    dns.set(service, {.kind = FakeDns::Name::servfail});
    child->reconfigure(R"({"caching": {"never": ["x"]}})");
    child->signal(SIGHUP);
    ASSERT_TRUE(child->says("changed: caching.never"));
    EXPECT_EQ(status("/after"), 200);
    EXPECT_EQ(a.logged("/after").status, 200);
}

}   // namespace garner::test
