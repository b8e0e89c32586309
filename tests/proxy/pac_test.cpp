// The text of PAC files. tests/story/pac.cpp evaluates them with libpacparser and Chromium.
#include "proxy/pac.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proxy/internal.hpp"

namespace garner::proxy {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<PacProxy> const both_gates{{true, "gate1.example", 3129}, {false, "gate2.example", 3128}};

TEST(Pac, names_the_proxies_in_their_order) {
    auto const text = pac_text({}, both_gates);
    EXPECT_EQ(text, "var proxies = [\"HTTPS gate1.example:3129\", \"PROXY gate2.example:3128\"];\n\n"
                    "function FindProxyForURL(url, host) {\n  return proxies.join(\"; \");\n}\n");
    PacOptions direct;
    direct.last_direct = true;
    EXPECT_THAT(pac_text(direct, both_gates), HasSubstr("return proxies.concat(\"DIRECT\").join(\"; \");"));
    EXPECT_THAT(pac_text({}, std::vector<PacProxy>{{false, "2001:db8::1", 80}}), HasSubstr("\"PROXY [2001:db8::1]:80\""));
}

TEST(Pac, has_only_the_functions_that_it_needs) {
    PacOptions options;
    EXPECT_THAT(pac_text(options, both_gates), Not(HasSubstr("isDirect")));
    options.spread = true;
    EXPECT_THAT(pac_text(options, both_gates), HasSubstr("order(h)"));
    EXPECT_THAT(pac_text(options, std::vector{both_gates[0]}), Not(HasSubstr("order"))) << "one proxy has one order";
    options.direct = {{.host = ".campus.example"}, {.network = parse_network("10.0.0.0/8")}};
    auto const text = pac_text(options, both_gates);
    EXPECT_THAT(text, HasSubstr("var hosts = [\".campus.example\"];\nvar networks = [\"10.0.0.0/8\"];"));
    for (auto const* slow : {"dnsResolve", "isInNet", "isResolvable", "myIpAddress"}) EXPECT_THAT(text, Not(HasSubstr(slow)));
}

TEST(Pac, keeps_a_text_of_the_configuration_inside_its_quotes) {
    PacOptions options;
    options.direct = {{.host = "a\"];alert(1)//.example"}};
    EXPECT_THAT(pac_text(options, both_gates), HasSubstr(R"(["a\"];alert(1)//.example"])"));
}

TEST(Pac, leaves_out_what_cannot_be_used_unless_nothing_would_be_left) {
    EXPECT_EQ(usable_proxies(both_gates, {true, false}, false), std::vector{both_gates[1]});
    EXPECT_EQ(usable_proxies(both_gates, {false, false}, false), both_gates);
    EXPECT_EQ(usable_proxies(both_gates, {true, true}, false), both_gates) << "without any proxy the browser would go direct";
    EXPECT_TRUE(usable_proxies(both_gates, {true, true}, true).empty());
}

TEST(Pac, names_the_proxy_as_the_client_does_if_that_is_a_plain_name) {
    IpEndpoint const own{IpAddress::v4(10, 0, 0, 1), 3128};
    EXPECT_EQ(reached_proxy("Gate.Example", 8080, true, own), (PacProxy{true, "gate.example", 8080}));
    EXPECT_EQ(reached_proxy("2001:db8::1", 8080, false, own), (PacProxy{false, "2001:db8::1", 8080}));
    for (auto const* odd : {"a;b", "a'b", "a b", "a%41", ""})
        EXPECT_EQ(reached_proxy(odd, 8080, false, own), (PacProxy{false, "10.0.0.1", 3128})) << odd;
}

TEST(Pac, is_at_two_paths_with_or_without_a_query) {
    EXPECT_TRUE(is_internal_path("/proxy.pac"));
    EXPECT_TRUE(is_internal_path("/proxy.pac?x"));
    EXPECT_TRUE(is_wpad_path("/wpad.dat"));
    EXPECT_FALSE(is_internal_path("/proxy.pacs"));
    EXPECT_FALSE(is_wpad_path("/proxy.pac"));
}

TEST(Pac, that_is_largest_counts_an_unknown_name_of_the_proxy) {
    EXPECT_GT(largest_pac({}), 255u);
    EXPECT_LT(largest_pac({}), 512u);
}

}   // namespace
}   // namespace garner::proxy
