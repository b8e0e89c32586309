// The firewall of listeners that intercept: which listener gets which family, and the lines of nftables and routes.
#include "config/intercept_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.hpp"

namespace garner::config {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<InterceptedFamily> families_of(std::string const& listen) {
    auto const loaded = load_text("test", R"({"listen": [)" + listen + "]}", {});
    EXPECT_TRUE(loaded.faults.empty());
    return intercepted_families(loaded.config.proxy.listen);
}

/// "v4 redirect to listen[0] [::]:3129"
std::vector<std::string> told(std::string const& listen) {
    std::vector<std::string> lines;
    for (auto const& one : families_of(listen))
        lines.push_back(std::string(one.is_v4 ? "v4 " : "v6 ") + (one.how == net::Intercept::tproxy ? "tproxy" : "redirect") +
                        " to " + one.listener + " " + one.to.text());
    return lines;
}

std::vector<std::string> table_of(std::string const& listen, std::vector<std::string> const& interfaces = {}) {
    return nft_table(families_of(listen), interfaces);
}

TEST(InterceptRules, the_first_listener_of_a_family_gets_its_connections) {
    EXPECT_THAT(told(R"({"address": ":3129", "intercept": "redirect"})"),
                ElementsAre("v4 redirect to listen[0] [::]:3129", "v6 redirect to listen[0] [::]:3129"));
    EXPECT_THAT(
        told(
            R"({"address": ":3128"}, {"address": "0.0.0.0:3129", "intercept": "tproxy"}, {"address": ":3130", "intercept": "redirect"})"),
        ElementsAre("v4 tproxy to listen[1] 0.0.0.0:3129", "v6 redirect to listen[2] [::]:3130"));
    EXPECT_THAT(told(R"({"address": "10.0.0.1:3129", "intercept": "redirect"})"),
                ElementsAre("v4 redirect to listen[0] 10.0.0.1:3129"));
    EXPECT_THAT(told(R"({"address": "127.0.0.1:3129", "intercept": "redirect"})"), ElementsAre())
        << "other machines do not reach it";
    EXPECT_THAT(told(R"({"address": "127.0.0.1:3129", "intercept": "tproxy"})"),
                ElementsAre("v4 tproxy to listen[0] 127.0.0.1:3129"));
}

TEST(InterceptRules, a_table_has_a_chain_for_each_kind) {
    EXPECT_THAT(table_of(R"({"address": ":3129", "intercept": "redirect"})", {"lan0"}),
                ElementsAre("table inet garner {", "\tchain redirect_clients {",
                            "\t\ttype nat hook prerouting priority dstnat; policy accept;", "\t\tfib daddr type local return",
                            "\t\tiifname \"lan0\" meta nfproto ipv4 tcp dport { 80, 443 } redirect to :3129",
                            "\t\tiifname \"lan0\" meta nfproto ipv6 tcp dport { 80, 443 } redirect to :3129", "\t}", "}"));
    auto const both =
        table_of(R"({"address": "10.0.0.1:3129", "intercept": "redirect"}, {"address": "[fd00::1]:3130", "intercept": "tproxy"})");
    EXPECT_THAT(both, Contains("\t\tmeta nfproto ipv4 tcp dport { 80, 443 } dnat ip to 10.0.0.1:3129"));
    EXPECT_THAT(
        both, Contains("\t\tmeta nfproto ipv6 tcp dport { 80, 443 } tproxy ip6 to [fd00::1]:3130 meta mark set 0x00006761 accept"));
    EXPECT_THAT(both, Contains("\t\tmeta l4proto tcp socket transparent 1 meta mark set 0x00006761 accept"));
}

TEST(InterceptRules, the_script_has_routes_for_tproxy_only) {
    auto const script_of = [](std::string const& listen) { return intercept_script(families_of(listen), {}); };
    auto const by_tproxy = script_of(R"({"address": "0.0.0.0:3129", "intercept": "tproxy"})");
    EXPECT_THAT(by_tproxy, HasSubstr("\nip -4 rule add fwmark 0x6761 lookup 26465\n"));
    EXPECT_THAT(by_tproxy, HasSubstr("\nip -4 route replace local default dev lo table 26465\n"));
    EXPECT_THAT(by_tproxy, Not(HasSubstr("ip -6")));
    EXPECT_THAT(script_of(R"({"address": ":3129", "intercept": "redirect"})"), Not(HasSubstr("\nip ")));
}

TEST(InterceptRules, a_wanted_line_is_found_in_the_output_of_its_command) {
    auto const wanted = wanted_lines(families_of(R"({"address": "0.0.0.0:3129", "intercept": "tproxy"})"), {});
    EXPECT_EQ(wanted.size(), 8u);
    EXPECT_EQ(wanted.back().command, "ip -4 route show table 26465");
    EXPECT_TRUE(has_line("local default dev lo scope host \n", wanted.back().line));
    EXPECT_TRUE(has_line("0:\tfrom all lookup local\n32765:\tfrom all fwmark 0x6761 lookup 26465\n", wanted[6].line));
    EXPECT_FALSE(has_line("0:\tfrom all lookup local\n", wanted[6].line));
    EXPECT_FALSE(has_line("", wanted.front().line));
    EXPECT_TRUE(has_line("\t\ttcp dport 80 redirect to :3129\n", "tcp dport 80 redirect to :3129"));
    EXPECT_FALSE(has_line("\t\ttcp dport 80 redirect to :31290\n", "tcp dport 80 redirect to :3129"));
}

}   // namespace
}   // namespace garner::config
