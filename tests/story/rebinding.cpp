// Names that change their minds: what counts is the address that is connected to, each time anew.
#include "story/scene.hpp"
#include "support/fake_dns.hpp"

namespace garner::test {

namespace {

FakeDns::Name for_a_second(std::vector<std::string> addresses) { return {.v4 = std::move(addresses), .ttl = 1}; }

/// Serves what lies on 127.0.0.2 and nothing else of this machine.
std::string only_the_second(FakeDns const& dns) {
    return R"({"workers": 1, "dns": {"servers": [")" + dns.server() +
           R"("]}, "access": [{"allow": {"destination": ["127.0.0.2"]}}, {"allow": {"source": ["127.0.0.0/8"]}}]})";
}

}  // namespace

TEST(Rebinding, a_name_that_turns_to_loopback_is_refused_from_then_on) {
    Origin open(Origin::Setup{.address = "127.0.0.2"});
    Origin closed(Origin::Setup{.address = "127.0.0.1", .port = open.port()});
    open.answer("/page", {.fields = {{"Cache-Control", "no-store"}}, .body = "open", .close = true});
    FakeDns dns;
    dns.set("evil.example", for_a_second({"127.0.0.2"}));
    Proxy proxy(only_the_second(dns));
    auto const name = "evil.example:" + std::to_string(open.port());
    EXPECT_EQ(Client(proxy).get("http://" + name + "/page").body(), "open");
    EXPECT_EQ(Client(proxy).connect_to(name).status(), 200);
    dns.set("evil.example", for_a_second({"127.0.0.1"}));
    EXPECT_TRUE(eventually([&] { return Client(proxy).get("http://" + name + "/page").status() == 403; }));
    EXPECT_EQ(Client(proxy).connect_to(name).status(), 403);
    EXPECT_EQ(closed.connections(), 0u);
}

TEST(Rebinding, of_several_addresses_only_those_that_are_open_are_tried) {
    Origin open(Origin::Setup{.address = "127.0.0.2"});
    Origin closed(Origin::Setup{.address = "127.0.0.1", .port = open.port()});
    open.answer("/page", no_store("open"));
    FakeDns dns;
    dns.set("evil.example", for_a_second({"127.0.0.1", "0.0.0.0", "127.0.0.2", "169.254.169.254"}));
    Proxy proxy(only_the_second(dns));
    auto const name = "evil.example:" + std::to_string(open.port());
    EXPECT_EQ(Client(proxy).get("http://" + name + "/page").body(), "open");
    EXPECT_EQ(closed.connections(), 0u);
}

}  // namespace garner::test
