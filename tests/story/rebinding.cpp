// DNS rebinding: each connection is checked by the address it goes to.
#include "story/scene.hpp"
#include "support/fake_dns.hpp"

namespace garner::test {

namespace {

FakeDns::Name for_a_second(std::vector<std::string> addresses) { return {.v4 = std::move(addresses), .ttl = 1}; }

/// Allows only 127.0.0.2 of this machine's addresses.
std::string only_the_second(FakeDns const& dns) {
    return R"({"workers": 1, "dns": {"servers": [")" + dns.server() +
           R"("]}, "access": [{"allow": {"destination": ["127.0.0.2"], "port": ["1-65535"]}}, {"allow": {"source": ["127.0.0.0/8"]}}]})";
}

}   // namespace

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

TEST(Rebinding, what_is_stored_is_judged_by_where_it_came_from_when_the_name_is_gone) {
    Origin open(Origin::Setup{.address = "127.0.0.2"});
    open.answer("/page", {.fields = {{"Cache-Control", "max-age=600"}}, .body = "kept", .close = true});
    FakeDns dns;
    dns.set("good.example", for_a_second({"127.0.0.2"}));
    Proxy proxy(only_the_second(dns));
    Client client(proxy);
    auto const site = "http://good.example:" + std::to_string(open.port());
    EXPECT_EQ(client.get(site + "/page").body(), "kept");
    dns.set("good.example", {.kind = FakeDns::Name::nxdomain});
    pause_for(2100ms);
    auto kept = client.get(site + "/page");
    EXPECT_EQ(kept.body(), "kept");
    EXPECT_TRUE(kept.hit());
    auto other = client.get(site + "/other");
    EXPECT_EQ(other.status(), 502);
    EXPECT_THAT(other.body(), HasSubstr("could not be resolved"));
}

TEST(Rebinding, a_stale_answer_does_not_stand_in_for_a_place_that_is_closed) {
    Origin open(Origin::Setup{.address = "127.0.0.2"});
    open.answer("/page",
                {.fields = {{"Cache-Control", "max-age=1"}, {"Age", "5"}, {"ETag", R"("a")"}}, .body = "old", .close = true});
    FakeDns dns;
    dns.set("evil.example", for_a_second({"127.0.0.2"}));
    Proxy proxy(only_the_second(dns));
    auto const page = "http://evil.example:" + std::to_string(open.port()) + "/page";
    EXPECT_EQ(Client(proxy).get(page).body(), "old");
    dns.set("evil.example", for_a_second({"127.0.0.1"}));
    EXPECT_TRUE(eventually([&] { return Client(proxy).get(page).status() == 403; }));
}

TEST(Rebinding, a_rule_that_allows_a_host_opens_nothing_on_this_machine) {
    Origin inside;
    inside.answer("/page", no_store("inside"));
    FakeDns dns;
    dns.set("partner.example", for_a_second({"127.0.0.1"}));
    Proxy proxy(R"({"dns": {"servers": [")" + dns.server() +
                R"("]}, "access": [{"allow": {"host": [".example"]}}, {"deny": "all"}]})");
    auto const name = "partner.example:" + std::to_string(inside.port());
    EXPECT_EQ(Client(proxy).get("http://" + name + "/page").status(), 403);
    EXPECT_EQ(Client(proxy).connect_to(name).status(), 403);
    EXPECT_EQ(Client(proxy).get("http://partner.example:25/").status(), 403);
    EXPECT_EQ(inside.connections(), 0u);
}

TEST(Rebinding, a_refused_place_is_logged_without_a_source) {
    Origin inside;
    FakeDns dns;
    dns.set("evil.example", for_a_second({"127.0.0.1"}));
    Proxy proxy(only_the_second(dns));
    auto const name = "evil.example:" + std::to_string(inside.port());
    auto const refused = Client(proxy).get("http://" + name + "/page");
    EXPECT_EQ(refused.status(), 403);
    EXPECT_EQ(refused.field("Cache-Status").find("fwd="), std::string::npos) << refused.field("Cache-Status");
    EXPECT_EQ(Client(proxy).post("http://" + name + "/form", "a=b").status(), 403);
    EXPECT_EQ(Client(proxy).connect_to(name).status(), 403);
    for (auto const& path : {std::string("/page"), std::string("/form"), name}) {
        auto const logged = proxy.logged(path);
        EXPECT_EQ(logged.tag, "TCP_DENIED") << logged.all;
        EXPECT_EQ(logged.all["hierarchy"], "HIER_NONE") << logged.all;
        EXPECT_EQ(logged.all["peer"], "") << logged.all;
    }
    EXPECT_EQ(proxy.stats()["origin"]["failures"], 0);
    EXPECT_EQ(inside.connections(), 0u);
}

}   // namespace garner::test
