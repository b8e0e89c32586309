#include "http/gateway.hpp"

#include <gtest/gtest.h>

#include "http/heads.hpp"

namespace garner::http {
namespace {

TEST(Gateway, fields_are_known_in_any_spelling) {
    for (auto name : {"Forwarded", "X-Forwarded-For", "x_forwarded_host", "X-Real-IP", "X-Host", "X-Original-URL", "X-Rewrite-URL",
                      "X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override", "Proxy", "CF-Connecting-IP"})
        EXPECT_TRUE(is_gateway_field(name)) << name;
    for (auto name : {"Accept", "X-Forward", "Host", "Proxy-Authorization", "X-Requested-With", ""})
        EXPECT_FALSE(is_gateway_field(name)) << name;
}

TEST(Gateway, method_overrides) {
    EXPECT_TRUE(has_method_override(fields({{"Accept", "a"}, {"x_http_method_override", "DELETE"}})));
    EXPECT_FALSE(has_method_override(fields({{"X-Forwarded-For", "a"}})));
    EXPECT_TRUE(is_cgi_proxy("proxy"));
    EXPECT_FALSE(is_cgi_proxy("X-Proxy"));
}

}   // namespace
}   // namespace garner::http
