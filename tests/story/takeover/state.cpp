// Failures of origins and names, and the state of peers, hold in the process that takes over.
#include "story/takeover/load.hpp"
#include "story/takeover/service.hpp"
#include "support/fake_dns.hpp"

namespace garner::test {

namespace {

using nlohmann::json;

std::string patch(FakeDns const& dns, std::uint16_t dead) {
    json const peer{{"name", "gone"},    {"type", "parent"}, {"host", "127.0.0.1"},
                    {"http_port", dead}, {"icp_port", 0},    {"no_query", true}};
    json const all{{"workers", 1},
                   {"caching", {{"negative_first", "60s"}, {"negative_ttl", "120s"}}},
                   {"dns", {{"servers", json::array({dns.server()})}, {"negative_first", "60s"}}},
                   {"peers", json::array({peer})}};
    return all.dump();
}

json first_peer(Service const& service) { return json::parse(service.run({"peers", "--json"}).output).at(0); }

}   // namespace

TEST(TakeoverState, failures_and_peers_are_those_of_the_former_process) {
    FakeDns dns;
    Service service(patch(dns, free_port()));
    auto& proxy = service.proxy();
    auto const broken = "http://127.0.0.1:" + std::to_string(free_port()) + "/broken";
    EXPECT_EQ(Client(proxy).get(broken).status(), 502);
    EXPECT_EQ(Client(proxy).get(broken).detail(), "negative");
    EXPECT_EQ(Client(proxy).get("http://missing.example/").status(), 502);
    auto const asked = dns.queries("missing.example").udp;
    EXPECT_GT(asked, 0);
    EXPECT_EQ(first_peer(service)["state"], "dead");
    ASSERT_TRUE(service.take_over()) << service.refused();
    EXPECT_EQ(first_peer(service)["state"], "dead");
    EXPECT_EQ(Client(proxy).get(broken).detail(), "negative");
    EXPECT_EQ(Client(proxy).get("http://missing.example/other").status(), 502);
    EXPECT_EQ(dns.queries("missing.example").udp, asked);
    service.expect_former_to_end(Millis{10'000});
    ASSERT_TRUE(service.take_over()) << service.refused();
    EXPECT_EQ(Client(proxy).get(broken).detail(), "negative") << "with the same seeds";
    EXPECT_THAT(Client(proxy).send("PURGE", broken).status(), AnyOf(200, 404));
    EXPECT_NE(Client(proxy).get(broken).detail(), "negative");
}

TEST(TakeoverState, windows_and_history_go_on) {
    Origin origin;
    origin.answer("/page", fresh("page"));
    Service service(R"({"workers": 1})");
    auto& proxy = service.proxy();
    for (int i = 0; i < 4; ++i) EXPECT_EQ(get(proxy, origin, "/page").body(), "page");
    auto const has_history = [&] { return !proxy.stats()["history"]["requests"]["5s"].empty(); };
    EXPECT_TRUE(eventually(has_history, Millis{15'000}));
    for (int process = 0; process < 2; ++process) {
        ASSERT_TRUE(service.take_over()) << service.refused();
        auto const stats = proxy.stats();
        EXPECT_DOUBLE_EQ(stats["hit_ratio"]["60s"].get<double>(), (3.0 + process) / (4 + process));
        EXPECT_DOUBLE_EQ(stats["hit_ratio"]["1h"].get<double>(), (3.0 + process) / (4 + process));
        EXPECT_EQ(stats["latency"]["hit"]["60s"]["count"], 3 + process);
        EXPECT_EQ(stats["latency"]["miss"]["1h"]["count"], 1);
        EXPECT_FALSE(stats["history"]["requests"]["5s"].empty());
        EXPECT_TRUE(get(proxy, origin, "/page").hit());
        service.expect_former_to_end(Millis{10'000});
    }
}

TEST(TakeoverState, tunnels_count_as_connections_of_their_peer) {
    Proxy parent;
    json const peer{{"name", "up"},  {"type", "parent"}, {"host", "127.0.0.1"}, {"http_port", parent.port()},
                    {"icp_port", 0}, {"no_query", true}, {"connections_max", 1}};
    Service service(json{{"workers", 1}, {"peers", json::array({peer})}, {"direct", {{"never", {"all"}}}}}.dump());
    Tunnel tunnel(service.proxy());
    EXPECT_EQ(tunnel.exchange(), "");
    auto const total = [&] { return service.proxy().stats()["connections"]["protocols_total"]["http1"].get<int>(); };
    for (int process = 0; process < 3; ++process) {
        EXPECT_EQ(first_peer(service)["connections"], 1);
        auto const before = total();
        EXPECT_NE(Client(service.proxy()).connect_to("127.0.0.1:9").status(), 200);
        EXPECT_EQ(tunnel.exchange(), "") << service.errors();
        if (process > 0) EXPECT_EQ(total(), before + 1) << "the refused one: the process that accepted the tunnel has counted it";
        ASSERT_TRUE(service.take_over()) << service.refused();
        service.expect_former_to_end(Millis{10'000});
    }
    tunnel.close();
    EXPECT_TRUE(eventually([&] { return first_peer(service)["connections"] == 0; }));
}

}   // namespace garner::test
