// Failures of origins and names, and the state of peers, hold in the process that takes over.
#include "story/takeover/service.hpp"
#include "support/fake_dns.hpp"

namespace garner::test {

namespace {

using nlohmann::json;

std::string patch(FakeDns const& dns, std::uint16_t dead) {
    json const peer{{"name", "gone"}, {"type", "parent"}, {"host", "127.0.0.1"}, {"http", dead}, {"icp", 0}, {"no_query", true}};
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

}   // namespace garner::test
