// Hosts without a proxy: behaviour that the scenes of faults rely on.
#include "support/hosts.hpp"

#include "support/child.hpp"
#include "support/client.hpp"
#include "support/origin.hpp"

namespace garner::test {

namespace {

bool reaches(Host const& from, Host const& to, std::uint16_t port) {
    auto const seconds = [&] { return run({"curl", "-s", "-m", "1", "http://" + to.address() + ":" + std::to_string(port)}); };
    return from.run(seconds).code == 0;
}

}   // namespace

TEST(Hosts, reach_each_other_until_a_cable_is_pulled) {
    NEEDS_HOSTS();
    Network network;
    auto& server = network.add_host();
    auto& client = network.add_host();
    auto& third = network.add_host();
    auto const origin = server.run([&] { return std::make_unique<Origin>(Origin::Setup{.address = server.address()}); });
    EXPECT_TRUE(reaches(client, server, origin->port()));
    server.cut();
    EXPECT_FALSE(reaches(client, server, origin->port()));
    EXPECT_FALSE(reaches(third, server, origin->port()));
    server.heal();
    EXPECT_TRUE(reaches(client, server, origin->port()));
    client.cut();
    EXPECT_FALSE(reaches(client, server, origin->port()));
    EXPECT_TRUE(reaches(third, server, origin->port()));
}

TEST(Hosts, have_nothing_of_the_machine_around_them) {
    NEEDS_HOSTS();
    Origin outside;
    Network network;
    auto& host = network.add_host();
    EXPECT_THROW(host.run([&] { Wire::connect("127.0.0.1", outside.port()); }), Trouble);
    EXPECT_NO_THROW(Wire::connect("127.0.0.1", outside.port()));
}

}   // namespace garner::test
