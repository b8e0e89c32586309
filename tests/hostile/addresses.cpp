// Destinations that are blocked for all clients: addresses that this machine gets later, and those of private networks.
#include "hostile/hostile.hpp"
#include "support/child.hpp"
#include "support/hosts.hpp"

namespace garner::test {

namespace {

/// The output of `garner explain` for a request to this host.
std::string explained(Proxy const& proxy, std::string const& host) {
    auto const file = proxy.dir().path("garner.json").string();
    return run({garner_binary(), "explain", "http://" + host + "/", "--client", "127.0.0.1", "--config", file}).output;
}

constexpr char const* all_to_loopback = R"({"access": null, "workers": 2})";

}   // namespace

TEST(Hostile, private_networks_are_closed_where_the_operator_says_so) {
    Proxy const open(all_to_loopback);
    Proxy const closed(R"({"access": null, "private_networks": "closed"})");
    for (char const* host :
         {"10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1", "100.100.100.200", "168.63.129.16", "198.18.0.1", "224.0.0.1",
          "192.0.2.1", "[fd00:ec2::254]", "[fc00::1]", "[ff02::1]", "[2001:db8::1]", "[64:ff9b::a00:1]"}) {
        EXPECT_THAT(explained(closed, host), HasSubstr("private_networks")) << host;
        EXPECT_THAT(explained(open, host), Not(HasSubstr("private_networks"))) << host;
    }
    EXPECT_THAT(explained(closed, "8.8.8.8"), Not(HasSubstr("private_networks")));
}

TEST(Hostile, a_rule_with_destination_opens_a_private_network) {
    Proxy const proxy(
        R"({"access": [{"allow": {"destination": ["10.0.0.0/8"]}}, {"allow": "all"}], "private_networks": "closed"})");
    EXPECT_THAT(explained(proxy, "10.1.2.3"), Not(HasSubstr("private_networks")));
    EXPECT_THAT(explained(proxy, "192.168.1.1"), HasSubstr("private_networks"));
}

TEST(Hostile, an_address_that_the_machine_gets_later_is_closed) {
    NEEDS_HOSTS();
    Network network;
    auto& host = network.add_host();
    host.run([] {
        Proxy const proxy(all_to_loopback);
        EXPECT_THAT(explained(proxy, "10.9.0.77"), Not(HasSubstr("this machine")));
        ASSERT_EQ(run({"ip", "address", "add", "10.9.0.77/24", "dev", "eth0"}).code, 0);
        EXPECT_TRUE(eventually([&] { return explained(proxy, "10.9.0.77").find("this machine") != std::string::npos; }));
        ASSERT_EQ(run({"ip", "address", "del", "10.9.0.77/24", "dev", "eth0"}).code, 0);
        EXPECT_TRUE(eventually([&] { return explained(proxy, "10.9.0.77").find("this machine") == std::string::npos; }));
    });
}

}   // namespace garner::test
