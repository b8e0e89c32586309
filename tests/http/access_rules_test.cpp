#include "http/access_rules.hpp"

#include <gtest/gtest.h>

#include <bitset>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace garner::http {
namespace {

using Verdict = Decision::Verdict;

IpAddress ip(char const* text) { return *parse_ip(text); }
IpNetwork network(char const* text) { return *parse_network(text); }
HostPattern host(char const* text) { return *HostPattern::parse(text); }
PortRange ports(char const* text) { return *PortRange::parse(text); }

RuleRequest request(char const* client, std::string_view host = "example.com", std::uint16_t port = 80) {
    return {.client = ip(client), .host = host, .port = port, .url = "http://example.com/a?b"};
}

AccessRule allow(Matcher match) { return {true, std::move(match), "allow"}; }
AccessRule deny(Matcher match) { return {false, std::move(match), "deny"}; }

IpAddress const open_address = ip("93.184.216.34");
OwnAddresses const nothing_own;

TEST(AccessRules, without_rules_only_loopback_clients_are_served) {
    AccessRules const rules;
    EXPECT_TRUE(rules.decide(request("127.0.0.1"), std::nullopt).allowed());
    EXPECT_TRUE(rules.decide(request("::1"), std::nullopt).allowed());
    auto const denied = rules.decide(request("10.0.0.1"), std::nullopt);
    EXPECT_TRUE(denied.denied());
    EXPECT_EQ(denied.text(), "default: clients on loopback only");
}

TEST(OwnAddresses, are_those_of_listeners_only_if_all_are) {
    OwnAddresses const own{.interfaces = {ip("10.0.0.1")}, .listening = {{ip("0.0.0.0"), 3128}}};
    EXPECT_TRUE(are_own_listeners(std::vector{ip("10.0.0.1"), ip("127.0.0.1")}, 3128, own));
    EXPECT_FALSE(are_own_listeners(std::vector{ip("10.0.0.1"), ip("10.0.0.2")}, 3128, own));
    EXPECT_FALSE(are_own_listeners(std::vector{ip("10.0.0.1")}, 80, own));
    EXPECT_FALSE(are_own_listeners({}, 3128, own));
}

TEST(AccessRules, the_first_match_decides) {
    Matcher campus{.source = {network("10.0.0.0/8")}};
    Matcher lab{.source = {network("10.1.0.0/16")}};
    AccessRules const rules({deny(lab), allow(campus)});
    EXPECT_TRUE(rules.decide(request("10.1.2.3"), std::nullopt).denied());
    EXPECT_TRUE(rules.decide(request("10.2.2.3"), std::nullopt).allowed());
    EXPECT_TRUE(rules.decide(request("192.0.2.1"), std::nullopt).denied());
    EXPECT_TRUE(rules.decide(request("127.0.0.1"), std::nullopt).allowed()) << "no match: the default";
}

TEST(AccessRules, the_decision_has_the_index_of_the_rule) {
    Matcher lab{.source = {network("10.1.0.0/16")}};
    AccessRules const rules({deny(lab), allow({.source = {network("10.0.0.0/8")}})});
    EXPECT_EQ(rules.decide(request("10.1.2.3"), std::nullopt).index, 0u);
    EXPECT_EQ(rules.decide(request("10.2.2.3"), std::nullopt).index, 1u);
    EXPECT_EQ(rules.permits(request("10.2.2.3"), ip("127.0.0.1"), nothing_own).index, 1u) << "a default blocks what it allows";
    EXPECT_EQ(rules.decide(request("192.0.2.1"), std::nullopt).index, Decision::no_rule);
}

TEST(AccessRules, are_about_origins_if_no_rule_looks_further) {
    EXPECT_FALSE(AccessRules().are_about_origins());
    Matcher const near{.source = {network("10.0.0.0/8")},
                       .destination = {network("127.0.0.0/8")},
                       .host = {host(".a.test")},
                       .port = {ports("80")},
                       .listener = {ports("3128")}};
    EXPECT_TRUE(AccessRules({deny(near), allow({})}).are_about_origins());
    auto const also = [&](Matcher further) { return AccessRules({deny(near), allow(std::move(further))}).are_about_origins(); };
    EXPECT_FALSE(also({.method = {"GET"}}));
    EXPECT_FALSE(also({.url_contains = {"/ads/"}}));
    EXPECT_FALSE(also({.content_type = {"image/png"}}));
    EXPECT_FALSE(also({.time = {TimeWindow{}}}));
    EXPECT_FALSE(also({.user = {"ann"}}));
    EXPECT_FALSE(also({.group = {"staff"}}));
    auto const named = std::make_shared<Matcher const>(Matcher{.method = {"GET"}});
    EXPECT_FALSE(also({.is = {{"reads", named}}}));
    EXPECT_FALSE(also({.is_not = {{"reads", named}}}));
}

TEST(AccessRules, dead_rules_are_found_with_the_reason) {
    Matcher empty;
    empty.never = "host";
    auto rules = std::vector{allow(empty),
                             deny({.host = {host(".a.test")}}),
                             allow({.host = {host("www.a.test")}}),
                             allow({.host = {host("b.test")}}),
                             deny({}),
                             allow({})};
    for (std::size_t i = 0; i < rules.size(); ++i) rules[i].place = "access[" + std::to_string(i) + "]: deny";
    AccessRules const all(rules);
    ASSERT_EQ(all.dead().size(), 3u);
    EXPECT_EQ(all.dead()[0].rule, 0u);
    EXPECT_EQ(all.dead()[0].by, DeadRule::none);
    EXPECT_EQ(all.dead()[0].why, "the list of its host is empty");
    EXPECT_EQ(all.dead()[1].rule, 2u);
    EXPECT_EQ(all.dead()[1].why, "access[1] matches all its requests");
    EXPECT_EQ(all.dead()[2].rule, 5u);
    EXPECT_EQ(all.dead()[2].by, 4u);
    EXPECT_EQ(all.dead()[2].why, "access[4] matches every request");
}

/// A rule and the requests of a set that it matches. Each pattern and each network has a request in the set that it alone decides.
struct KnownRule {
    static constexpr std::size_t requests = 45;

    explicit KnownRule(std::mt19937& random) {
        static std::vector<std::string> const patterns{"a.test", ".a.test", "b.test", ".b.test", ".test", "www.a.test"};
        static std::vector<std::string> const networks{"10.0.0.0/8", "10.1.0.0/16", "10.1.0.1", "192.0.2.1"};
        rule.allow = random() % 2 == 0;
        std::vector<HostPattern> hosts;
        std::vector<IpNetwork> sources;
        for (auto left = random() % 3; left > 0; --left) hosts.push_back(host(patterns[random() % patterns.size()].c_str()));
        for (auto left = random() % 3; left > 0; --left) sources.push_back(network(networks[random() % networks.size()].c_str()));
        rule.match.host = HostSet(hosts);
        rule.match.source = NetworkSet(sources);
        AccessRules const alone({rule});
        std::size_t i = 0;
        for (auto const* client : {"10.2.0.1", "10.1.0.2", "10.1.0.1", "192.0.2.1", "198.51.100.1"})
            for (auto const* name :
                 {"a.test", "www.a.test", "z.a.test", "b.test", "www.b.test", "z.b.test", "c.test", "test", "d.example"})
                matched[i++] = alone.permits(request(client, name), open_address, nothing_own).index == 0;
    }

    AccessRule rule;
    std::bitset<requests> matched;
};

/// The rules that a single earlier one leaves no request.
std::set<std::size_t> covered_rules(std::vector<KnownRule const*> const& list) {
    std::set<std::size_t> found;
    for (std::size_t i = 0; i < list.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if ((list[i]->matched & ~list[j]->matched).none()) found.insert(i);
    return found;
}

TEST(AccessRules, dead_rules_of_10000_random_lists_are_those_that_an_earlier_rule_covers) {
    std::mt19937 random(3);
    std::vector<KnownRule> rules;
    for (int i = 0; i < 200; ++i) rules.emplace_back(random);
    std::size_t dead_count = 0;
    for (int round = 0; round < 10'000; ++round) {
        std::vector<KnownRule const*> list(1 + random() % 6);
        for (auto& one : list) one = &rules[random() % rules.size()];
        std::vector<AccessRule> plain;
        for (auto const* one : list) plain.push_back(one->rule);
        std::set<std::size_t> dead;
        for (auto const& one : find_dead_rules(plain)) dead.insert(one.rule);
        ASSERT_EQ(dead, covered_rules(list)) << "round " << round;
        dead_count += dead.size();
    }
    EXPECT_GT(dead_count, 1'000u);
}

TEST(AccessRules, an_empty_matcher_is_everybody) {
    AccessRules const rules({deny({})});
    EXPECT_TRUE(rules.decide(request("127.0.0.1"), std::nullopt).denied());
}

TEST(AccessRules, all_matchers_given_must_match_and_any_value_of_each) {
    Matcher match{.host = {host("a.test"), host(".b.test")}, .port = {ports("80"), ports("8000-8999")}, .method = {"GET"}};
    AccessRules const rules({allow(match), deny({})});
    auto const verdict = [&](std::string_view name, std::uint16_t port, std::string_view method) {
        auto asked = request("192.0.2.1", name, port);
        asked.method_text = method;
        return rules.decide(asked, std::nullopt).allowed();
    };
    EXPECT_TRUE(verdict("a.test", 80, "GET"));
    EXPECT_TRUE(verdict("x.B.test", 8500, "GET"));
    EXPECT_FALSE(verdict("x.a.test", 80, "GET"));
    EXPECT_FALSE(verdict("a.test", 81, "GET"));
    EXPECT_FALSE(verdict("a.test", 80, "POST"));
    EXPECT_FALSE(verdict("a.test", 80, "get"));
}

TEST(AccessRules, a_rule_about_the_destination_waits_for_it) {
    Matcher match{.source = {network("10.0.0.0/8")}, .destination = {network("172.16.0.0/12")}};
    AccessRules const rules({deny(match), allow({})});
    EXPECT_EQ(rules.decide(request("10.0.0.1"), std::nullopt).verdict, Verdict::needs_destination);
    EXPECT_TRUE(rules.decide(request("10.0.0.1"), ip("172.17.0.1")).denied());
    EXPECT_TRUE(rules.decide(request("10.0.0.1"), open_address).allowed());
    EXPECT_TRUE(rules.decide(request("11.0.0.1"), std::nullopt).allowed())
        << "the source does not match, so no destination is needed";
}

TEST(AccessRules, an_earlier_deny_needs_no_destination) {
    AccessRules const rules({deny({.host = {host("bad.test")}}), allow({.destination = {network("10.0.0.0/8")}})});
    EXPECT_TRUE(rules.decide(request("127.0.0.1", "bad.test"), std::nullopt).denied());
}

TEST(AccessRules, closed_destinations_stay_closed_under_a_rule_about_the_source) {
    AccessRules const rules({allow({.source = {network("127.0.0.0/8")}})});
    EXPECT_TRUE(rules.permits(request("127.0.0.1"), open_address, nothing_own).allowed());
    for (char const* closed :
         {"127.0.0.1", "127.9.9.9", "0.0.0.0", "0.1.2.3", "169.254.169.254", "::", "::1", "fe80::1", "febf::1", "::ffff:127.0.0.1",
          "::127.0.0.1", "64:ff9b::127.0.0.1", "64:ff9b::169.254.1.1", "64:ff9b:1::127.0.0.1",
          "64:ff9b:1:7f00:0:100::", "2002:7f00:1::", "::ffff:0:127.0.0.1", "2001:0:1:1::80ff:fffe"}) {
        auto const decision = rules.permits(request("127.0.0.1"), ip(closed), nothing_own);
        EXPECT_TRUE(decision.denied()) << closed;
        EXPECT_NE(decision.closed, nullptr) << closed;
    }
    for (char const* open : {"10.0.0.1", "1.1.1.1", "2001:db8::1", "fec0::1", "64:ff9b::8.8.8.8", "2002:808:808::", "128.0.0.1",
                             "169.253.0.1", "2001:0:808:808::f7f7:f7f7"})
        EXPECT_TRUE(rules.permits(request("127.0.0.1"), ip(open), nothing_own).allowed()) << open;
}

TEST(AccessRules, only_a_destination_or_an_address_as_host_opens_addresses_and_only_a_port_opens_ports) {
    auto const asked = request("127.0.0.1", "localhost", 8000);
    auto tunnel = request("127.0.0.1", "localhost", 8000);
    tunnel.method = Method::connect;
    tunnel.method_text = "CONNECT";
    auto const mail = request("127.0.0.1", "localhost", 25);
    struct Case {
        Matcher match;
        bool opens_address, opens_port;
    };
    for (auto const& [match, opens_address, opens_port] :
         {Case{{.destination = {network("127.0.0.0/8")}}, true, false}, Case{{.host = {host("localhost")}}, true, false},
          Case{{.host = {host(".localhost")}}, false, false},
          Case{{.host_matches = {*TextPattern::parse("^localhost$")}}, false, false},
          Case{{.port = {ports("1-65535")}}, false, true},
          Case{{.destination = {network("127.0.0.0/8")}, .port = {ports("1-65535")}}, true, true}}) {
        AccessRules const rules({allow(match)});
        EXPECT_EQ(rules.permits(asked, ip("127.0.0.1"), nothing_own).allowed(), opens_address);
        EXPECT_EQ(rules.permits(tunnel, ip("127.0.0.1"), nothing_own).allowed(), opens_address && opens_port);
        if (!match.destination.empty()) continue;
        EXPECT_TRUE(rules.permits(asked, ip("169.254.169.254"), nothing_own).denied())
            << "a host name permits no blocked address but loopback";
        EXPECT_EQ(rules.permits(tunnel, open_address, nothing_own).allowed(), opens_port);
        EXPECT_EQ(rules.permits(mail, open_address, nothing_own).allowed(), opens_port);
    }
    AccessRules const elsewhere({allow({.host = {host("intra.test")}})});
    EXPECT_TRUE(elsewhere.permits(request("127.0.0.1", "intra.test"), ip("127.0.0.1"), nothing_own).denied());
    AccessRules const denies({deny({.host = {host("bad.test")}}), allow({})});
    EXPECT_TRUE(denies.permits(request("127.0.0.1"), ip("127.0.0.1"), nothing_own).denied())
        << "a deny rule permits no blocked address";
}

TEST(AccessRules, an_address_as_host_opens_this_address) {
    AccessRules const rules({allow({.host = {host("127.0.0.7"), host("::1")}}), allow({})});
    EXPECT_TRUE(rules.permits(request("10.0.0.1", "127.0.0.7"), ip("127.0.0.7"), nothing_own).allowed());
    EXPECT_TRUE(rules.permits(request("10.0.0.1", "0::1"), ip("::1"), nothing_own).allowed());
    EXPECT_TRUE(rules.permits(request("10.0.0.1", "127.0.0.8"), ip("127.0.0.8"), nothing_own).denied());
    EXPECT_EQ(rules.decide(request("10.0.0.1", "127.0.0.7"), std::nullopt).verdict, Verdict::allow);
}

TEST(AccessRules, named_matchers_open_what_they_name_and_negated_ones_nothing) {
    NamedMatcher const local{"local", std::make_shared<Matcher const>(Matcher{.destination = {network("127.0.0.0/8")}})};
    NamedMatcher const intern{"intern", std::make_shared<Matcher const>(Matcher{.destination = {network("10.0.0.0/8")}})};
    AccessRules const opens({allow({.is = {local}})}), opens_nothing({allow({.is_not = {intern}})});
    EXPECT_TRUE(opens.permits(request("127.0.0.1"), ip("127.0.0.1"), nothing_own).allowed());
    EXPECT_TRUE(opens_nothing.permits(request("127.0.0.1"), ip("127.0.0.1"), nothing_own).denied());
    EXPECT_TRUE(opens_nothing.permits(request("127.0.0.1"), open_address, nothing_own).allowed());
}

TEST(AccessRules, a_login_is_asked_for_only_when_its_rule_is_reached) {
    AccessRules const rules(
        {deny({.host = {host("bad.test")}}), deny({.destination = {network("10.0.0.0/8")}}), allow({.user = {"anna"}}), deny({})});
    EXPECT_TRUE(rules.decide(request("127.0.0.1", "bad.test"), std::nullopt).denied());
    auto asked = request("127.0.0.1");
    EXPECT_EQ(rules.decide(asked, std::nullopt).verdict, Verdict::needs_destination);
    EXPECT_EQ(rules.decide(asked, ip("10.0.0.1")).verdict, Verdict::deny);
    EXPECT_EQ(rules.decide(asked, open_address).verdict, Verdict::needs_identity);
    Identity const anna{.user = "anna"}, bob{.user = "bob"};
    asked.identity = &anna;
    EXPECT_TRUE(rules.decide(asked, open_address).allowed());
    asked.identity = &bob;
    EXPECT_TRUE(rules.decide(asked, open_address).denied());
}

TEST(AccessRules, an_allow_rule_covers_no_deny_rule_where_they_read_a_URL_differently) {
    Matcher const ads{.url_contains = {"/ads/"}};
    EXPECT_TRUE(deny(ads).covers(allow(ads)));
    EXPECT_TRUE(deny(ads).covers(deny(ads)));
    EXPECT_FALSE(allow(ads).covers(deny(ads)));
    EXPECT_TRUE(allow({.port = {ports("80-90")}}).covers(deny({.port = {ports("85")}})));
}

TEST(AccessRules, connect_goes_to_443_unless_a_rule_opens_more) {
    auto asked = request("127.0.0.1", "example.com", 22);
    asked.method = Method::connect;
    asked.method_text = "CONNECT";
    AccessRules const plain;
    EXPECT_EQ(plain.decide(asked, std::nullopt).text(), "CONNECT to a port other than 443 (default: clients on loopback)");
    AccessRules const source({allow({.source = {network("127.0.0.1")}})});
    EXPECT_TRUE(source.decide(asked, std::nullopt).denied());
    AccessRules const opened({allow({.port = {ports("22")}})});
    EXPECT_TRUE(opened.decide(asked, std::nullopt).allowed());
    asked.port = 443;
    EXPECT_TRUE(plain.decide(asked, std::nullopt).allowed());
}

TEST(AccessRules, mail_servers_get_no_requests_unless_a_rule_opens_their_ports) {
    AccessRules const plain;
    AccessRules const source({allow({.source = {network("127.0.0.1")}})});
    AccessRules const opened({allow({.port = {ports("1-600")}})});
    for (std::uint16_t const port : {25, 465, 587}) {
        auto const asked = request("127.0.0.1", "example.com", port);
        EXPECT_EQ(plain.decide(asked, std::nullopt).text(), "port of another protocol (default: clients on loopback)");
        EXPECT_TRUE(source.permits(asked, open_address, nothing_own).denied());
        EXPECT_TRUE(opened.permits(asked, open_address, nothing_own).allowed());
    }
    for (std::uint16_t const port : {24, 26, 80, 8025})
        EXPECT_TRUE(plain.decide(request("127.0.0.1", "example.com", port), std::nullopt).allowed()) << port;
}

TEST(AccessRules, the_machines_own_addresses_are_closed_and_its_listeners_never_open) {
    OwnAddresses const own{.interfaces = {ip("192.0.2.7")}, .listening = {{ip("127.0.0.1"), 3131}, {ip("::"), 3128}}};
    AccessRules const plain;
    EXPECT_TRUE(plain.permits(request("127.0.0.1", "me", 80), ip("192.0.2.7"), own).denied());
    EXPECT_TRUE(plain.permits(request("127.0.0.1", "me", 80), ip("64:ff9b::192.0.2.7"), own).denied());
    AccessRules const opened({allow({.destination = {network("::/0")}})});
    EXPECT_TRUE(opened.permits(request("127.0.0.1", "me", 80), ip("192.0.2.7"), own).allowed());
    for (char const* address : {"127.0.0.1", "0.0.0.0", "::ffff:127.0.0.1"})
        EXPECT_TRUE(opened.permits(request("127.0.0.1", "me", 3131), ip(address), own).denied()) << address;
    for (char const* address : {"192.0.2.7", "127.0.0.5", "::1", "::"})
        EXPECT_TRUE(opened.permits(request("127.0.0.1", "me", 3128), ip(address), own).denied()) << address;
    EXPECT_TRUE(opened.permits(request("127.0.0.1", "me", 3128), open_address, own).allowed());
}

TEST(AccessRules, private_networks_are_closed_on_demand_and_opened_by_a_destination) {
    for (char const* text : {"10.0.0.1", "172.31.255.255", "192.168.0.1", "100.64.0.1", "168.63.129.16", "192.0.0.1", "198.19.0.1",
                             "203.0.113.1", "239.1.1.1", "255.255.255.255", "fd00:ec2::254", "ff02::1", "2001:db8::1", "3fff::1",
                             "64:ff9b::a00:1", "64:ff9b:1::1", "2002:a00:1::", "::10.0.0.1"})
        EXPECT_NE(private_destination(ip(text)), nullptr) << text;
    for (char const* text : {"8.8.8.8", "172.32.0.1", "100.128.0.1", "168.63.129.17", "198.20.0.1", "223.255.255.255",
                             "2001:4860::1", "64:ff9b::808:808", "2003::1"})
        EXPECT_EQ(private_destination(ip(text)), nullptr) << text;
    AccessRule everything{.allow = true, .match = {}, .place = "a"};
    AccessRule ten{.allow = true, .match = {.destination = {*parse_network("10.0.0.0/8")}}, .place = "b"};
    RuleRequest request;
    AccessRules const rules({ten, everything});
    EXPECT_TRUE(rules.permits(request, ip("10.0.0.1"), nothing_own, true).allowed());
    EXPECT_TRUE(rules.permits(request, ip("192.168.0.1"), nothing_own, false).allowed());
    EXPECT_FALSE(rules.permits(request, ip("192.168.0.1"), nothing_own, true).allowed());
}

TEST(AccessRules, a_hit_asks_for_the_address_where_another_client_may_have_brought_in_what_is_closed_to_this_one) {
    Matcher admin{.source = {network("10.0.0.1")}, .destination = {network("127.0.0.0/8")}, .host = {host("intra.test")}};
    AccessRules const rules({allow(admin), allow({.source = {network("10.0.0.0/8")}})});
    EXPECT_TRUE(rules.permits(request("10.0.0.1", "intra.test"), ip("127.0.0.1"), nothing_own).allowed());
    EXPECT_EQ(rules.decide(request("10.0.0.2", "intra.test"), std::nullopt).verdict, Verdict::needs_destination);
    EXPECT_TRUE(rules.decide(request("10.0.0.2", "other.test"), std::nullopt).allowed());
    EXPECT_TRUE(rules.permits(request("10.0.0.2", "intra.test"), ip("127.0.0.1"), nothing_own).denied());
}

TEST(AccessRules, a_listener_is_the_port_that_the_client_connected_to) {
    AccessRules const rules({deny({.listener = {ports("3129")}}), allow({})});
    auto asked = request("10.0.0.2");
    asked.listener = 3128;
    EXPECT_TRUE(rules.decide(asked, std::nullopt).allowed());
    asked.listener = 3129;
    EXPECT_TRUE(rules.decide(asked, std::nullopt).denied());
}

TEST(AccessRules, an_accelerator_serves_everybody_unless_a_rule_says_otherwise) {
    auto visitor = request("192.0.2.9");
    EXPECT_TRUE(AccessRules().decide(visitor, std::nullopt).denied());
    visitor.accelerated = true;
    EXPECT_TRUE(AccessRules().decide(visitor, std::nullopt).allowed());
    AccessRules const office({allow({.source = {network("10.0.0.0/8")}})});
    EXPECT_TRUE(office.decide(visitor, std::nullopt).allowed());
    visitor.listener = 8080;
    AccessRules const shut({deny({.listener = {ports("8080")}})});
    EXPECT_TRUE(shut.decide(visitor, std::nullopt).denied());
}

TEST(AccessRules, an_escape_hides_a_URL_from_no_rule) {
    auto decides = [](bool allow, std::string_view url, std::string_view plain) {
        Matcher match;
        match.url_contains = {"/ads/"};
        AccessRules const rules({{.allow = allow, .match = match, .place = "access[0]"}});
        auto asked = request("127.0.0.1", "a.example", 80);
        asked.url = url;
        asked.plain_url = plain;
        return rules.decide(asked, std::nullopt).rule == "access[0]";
    };
    EXPECT_TRUE(decides(false, "http://a.example/ads/", ""));
    EXPECT_TRUE(decides(false, "http://a.example/%61ds/", "http://a.example/ads/"));
    EXPECT_FALSE(decides(true, "http://a.example/%61ds/", "http://a.example/ads/"));
    EXPECT_TRUE(decides(true, "http://a.example/ads/%61", "http://a.example/ads/a"));
    EXPECT_FALSE(decides(false, "http://a.example/%62", "http://a.example/b"));
}

TEST(AccessRules, ports_of_other_protocols_are_closed_unless_a_rule_names_the_port) {
    Matcher redis;
    redis.port = {{6379, 6379}};
    AccessRules const none, opens({{.allow = true, .match = redis, .place = "access[0]: allow", .matchers = "{port}"}});
    for (std::uint16_t const port : {1, 21, 22, 23, 143, 6379, 11211}) {
        auto const asked = request("127.0.0.1", "a.example", port);
        EXPECT_TRUE(none.decide(asked, std::nullopt).denied()) << port;
        EXPECT_EQ(opens.decide(asked, std::nullopt).allowed(), port == 6379) << port;
    }
    for (std::uint16_t const port : {80, 443, 8080, 3128})
        EXPECT_TRUE(none.decide(request("127.0.0.1", "a.example", port), {}).allowed());
}

TEST(AccessRules, a_client_sees_the_name_of_a_rule_alone) {
    Decision const decision{.rule = "access[2]: deny", .matchers = "{\"host\":\"a.example\"}", .closed = nullptr};
    EXPECT_EQ(decision.text(), "access[2]: deny {\"host\":\"a.example\"}");
    EXPECT_EQ(decision.text_for_client(), "access[2]: deny");
    EXPECT_EQ(decision.place(), "access[2]");
    Decision const named{.rule = "access[2]: deny", .matchers = "{\"host\":\"a.example\"}", .name = "exams", .closed = nullptr};
    EXPECT_EQ(named.text(), "exams (access[2]: deny) {\"host\":\"a.example\"}");
    EXPECT_EQ(named.text_for_client(), "exams (access[2]: deny)");
}

}   // namespace
}   // namespace garner::http
