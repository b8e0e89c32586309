// The keys of clients behind gateways.
#include <gtest/gtest.h>

#include "support.hpp"

namespace garner::config {
namespace {

TEST(GatewayKeys, are_read) {
    auto const loaded = load(R"({"forwarded_trust": ["10.0.0.5"], "forwarded_received": "delete"})");
    EXPECT_EQ(told(loaded), "");
    EXPECT_EQ(loaded.config.proxy.forwarded_trust.at(0).text(), "10.0.0.5");
}

TEST(GatewayKeys, an_earlier_name_is_read_with_a_notice) {
    auto const loaded = load(R"({"forwarded_trusted": ["10.0.0.5"]})");
    EXPECT_EQ(told(loaded), "");
    EXPECT_EQ(loaded.config.proxy.forwarded_trust.size(), 1u);
    EXPECT_FALSE(loaded.notices.empty());
}

}   // namespace
}   // namespace garner::config
