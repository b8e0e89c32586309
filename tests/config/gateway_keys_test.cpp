// The keys of clients behind gateways, and of PROXY headers to other servers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.hpp"

namespace garner::config {
namespace {

using testing::HasSubstr;

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
