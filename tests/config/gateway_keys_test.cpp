// The keys of clients behind gateways, and of PROXY headers to other servers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.hpp"

namespace garner::config {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(GatewayKeys, are_read) {
    auto const loaded = load(R"({"forwarded_trust": ["10.0.0.5"], "forwarded_received": "delete",
        "listen": [{"address": ":8080", "origin": "http://127.0.0.1:8000", "origin_proxy_protocol": "v2"}],
        "peers": [{"name": "p", "host": "10.0.0.6", "proxy_protocol": "v1"}]})");
    EXPECT_EQ(told(loaded), "");
    EXPECT_EQ(loaded.config.proxy.forwarded_trust.at(0).text(), "10.0.0.5");
    EXPECT_EQ(loaded.config.proxy.listen.at(0).origin_proxy_protocol, net::ProxyProtocol::v2);
    EXPECT_EQ(loaded.config.mesh.peers.at(0).proxy_protocol, net::ProxyProtocol::v1);
}

TEST(GatewayKeys, trust_in_almost_any_client_is_noticed) {
    auto const loaded = load(R"({"forwarded_trust": ["10.0.0.5", "0.0.0.0/0"],
        "listen": [{"address": "127.0.0.1:3128"}, {"address": "127.0.0.1:3129", "proxy_protocol": ["::/0"]}]})");
    EXPECT_EQ(told(loaded), "");
    ASSERT_EQ(loaded.notices.size(), 2u);
    EXPECT_EQ(text_of(loaded.notices[0]),
              "test.json:1: forwarded_trust[1]: 0.0.0.0/0 lets almost any client claim the address of another one, with its "
              "rights and quotas (name the networks of the gateways alone)");
    EXPECT_EQ(loaded.notices[1].key, "listen[1].proxy_protocol[0]");
    EXPECT_TRUE(load(R"({"forwarded_trust": ["10.0.0.0/8"]})").notices.empty());
}

TEST(GatewayKeys, a_purge_rule_for_almost_any_client_is_noticed) {
    auto const noticed = [](Loaded const& loaded) {
        std::string all;
        for (auto const& notice : loaded.notices) all += text_of(notice) + "\n";
        return all;
    };
    auto const told_of = [&](std::string const& address, std::string const& rules) {
        return noticed(load(R"({"listen": [{"address": ")" + address + R"(:3128"}], "purge": )" + rules +
                            R"(, "matchers": {"ops": {"source": "10.0.0.9"}, "pages": {"host": ".example.com"}}})"));
    };
    auto const* const everywhere = "0.0.0.0";
    for (auto const* rules : {R"([{"allow": "all"}])", R"([{"allow": {"host": "a.example"}}])",
                              R"([{"allow": {"source": "::/0"}}])", R"([{"allow": {"source": ["10.0.0.9", "0.0.0.0/0"]}}])",
                              R"([{"allow": {"is": "pages"}}])", R"([{"allow": {"not": "ops"}}])",
                              R"([{"deny": {"host": "b.example"}}, {"allow": "all"}])", R"([{"allow": {"listener": 3128}}])"}) {
        EXPECT_THAT(told_of(everywhere, rules), HasSubstr("lets almost any client remove stored objects")) << rules;
        EXPECT_THAT(told_of("127.0.0.1", rules), Not(HasSubstr("remove stored objects"))) << rules;
    }
    for (auto const* rules :
         {R"([{"allow": {"source": "10.0.0.0/8"}}])", R"([{"allow": {"user": "*"}}])", R"([{"allow": {"is": "ops"}}])",
          R"([{"deny": "all"}])", R"([{"allow": {"certificate": "any"}}])", R"([{"deny": {"not": "ops"}}, {"allow": "all"}])",
          R"([{"allow": {"listener": 3129}}])", R"([{"allow": {"header": "X-Purge: ^secret$"}}])"})
        EXPECT_THAT(told_of(everywhere, rules), Not(HasSubstr("remove stored objects"))) << rules;
    EXPECT_THAT(noticed(load(R"({"seen": {"address": "0.0.0.0:3132", "allow": ["0.0.0.0/0"]}})")), HasSubstr("seen.allow[0]"));
}

TEST(GatewayKeys, an_earlier_name_is_read_with_a_notice) {
    auto const loaded = load(R"({"forwarded_trusted": ["10.0.0.5"]})");
    EXPECT_EQ(told(loaded), "");
    EXPECT_EQ(loaded.config.proxy.forwarded_trust.size(), 1u);
    EXPECT_FALSE(loaded.notices.empty());
}

TEST(GatewayKeys, only_an_accelerator_has_an_origin_to_tell) {
    EXPECT_EQ(told(load("{\n\"listen\": [{\"address\": \":3128\",\n\"origin_proxy_protocol\": \"v1\"}]}")),
              "test.json:3: listen[0].origin_proxy_protocol: is for accelerators only: this listener has no origin "
              "(add origin, or remove this key)\n");
    EXPECT_THAT(told(load(R"({"peers": [{"name": "p", "host": "a", "proxy_protocol": "v3"}]})")),
                HasSubstr("peers[0].proxy_protocol: "));
}

}   // namespace
}   // namespace garner::config
