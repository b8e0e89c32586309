#include "bump/decide.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "bump/splice_list.hpp"
#include "support/places.hpp"

namespace garner::bump {
namespace {

using testing::HasSubstr;
using Cause = Decision::Cause;
using Hello = net::ClientHelloReading;

http::HostPattern host(std::string_view text) { return *http::HostPattern::parse(text); }

Rule rule(Action action, http::Matcher match, std::size_t index) {
    auto const verb = action == Action::splice ? "splice" : action == Action::bump ? "bump" : "terminate";
    return {action, std::move(match), "bump.rules[" + std::to_string(index) + "]: " + verb, "{…}"};
}

/// Splices .private.example, terminates bad.example, and bumps all other hosts of port 443.
Rules some_rules() {
    return {{rule(Action::splice, {.host = {host(".private.example")}}, 0),
             rule(Action::terminate, {.host = {host("bad.example")}}, 1), rule(Action::bump, {.port = {{443, 443}}}, 2)}};
}

http::RuleRequest connect_to(std::string_view name, std::uint16_t port = 443) {
    http::RuleRequest request;
    request.client = *parse_ip("10.0.0.7");
    request.method = http::Method::connect;
    request.method_text = "CONNECT";
    request.host = name;
    request.port = port;
    request.listener = 3128;
    return request;
}

Hello hello(std::string name, std::vector<std::string> protocols = {"h2", "http/1.1"}, bool has_ech = false) {
    Hello reading{.state = Hello::State::hello};
    reading.hello = {std::move(name), std::move(protocols), {0x0304}, has_ech};
    return reading;
}

Rules splicing_otherwise() {
    auto rules = some_rules();
    rules.otherwise = Otherwise::splice;
    return rules;
}

Decision decided(std::string_view name, Hello const& reading, Rules const& rules) {
    auto const request = connect_to(name);
    return decide_by_hello(rules, request, decide(rules, request, {}), reading);
}

TEST(BumpRules, the_first_match_decides_and_none_splices) {
    auto const rules = some_rules();
    EXPECT_EQ(rules.decide(connect_to("a.private.example")).action, Action::splice);
    EXPECT_EQ(rules.decide(connect_to("bad.example")).action, Action::terminate);
    EXPECT_EQ(rules.decide(connect_to("www.example")).rule, "bump.rules[2]: bump");
    EXPECT_EQ(rules.decide(connect_to("www.example", 8443)).action, Action::splice);
    EXPECT_EQ(rules.decide(connect_to("www.example", 8443)).rule, "");
    EXPECT_EQ(Rules{}.decide(connect_to("www.example")).action, Action::splice);
}

TEST(BumpRules, sources_and_listeners_are_matched) {
    Rules const rules{{rule(Action::bump, {.source = {*parse_network("10.0.0.0/8")}, .listener = {{3128, 3128}}}, 0)}};
    auto request = connect_to("www.example");
    EXPECT_EQ(rules.decide(request).action, Action::bump);
    request.listener = 3129;
    EXPECT_EQ(rules.decide(request).action, Action::splice);
    request = connect_to("www.example");
    request.client = *parse_ip("192.0.2.1");
    EXPECT_EQ(rules.decide(request).action, Action::splice);
}

TEST(BumpRules, say_if_any_applies_and_which_hosts_they_bump) {
    EXPECT_FALSE(Rules{}.any_applies());
    EXPECT_FALSE(Rules{{rule(Action::splice, {}, 0)}}.any_applies());
    EXPECT_TRUE(some_rules().any_bumps());
    EXPECT_TRUE(some_rules().bumped_hosts().empty()) << "any host";
    Rules const named{{rule(Action::bump, {.host = {host(".a.example"), host("b.example")}}, 0),
                       rule(Action::splice, {.host = {host("c.example")}}, 1),
                       rule(Action::bump, {.host = {host("b.example")}}, 2)}};
    EXPECT_EQ(named.bumped_hosts(), (std::vector{host(".a.example"), host("b.example")}));
}

TEST(BumpRules, say_in_which_tunnels_they_bump) {
    auto const text = [](std::vector<Rule> rules, bool splice_list = false) {
        return Rules{std::move(rules), splice_list}.text_of_bumped();
    };
    auto const network = [](char const* text) { return *parse_network(text); };
    Rule of_hosts = rule(Action::bump, {.host = {host(".a.example"), host("b.example")}}, 0);
    Rule of_clients = rule(Action::bump, {.source = {network("10.2.0.0/16")}}, 1);
    of_clients.matchers = R"({"source":"10.2.0.0/16"})";
    Rule const of_all = rule(Action::bump, {}, 2);
    EXPECT_EQ(text({}), "");
    EXPECT_EQ(text({rule(Action::splice, {}, 0)}), "");
    EXPECT_EQ(text({of_hosts}), "to .a.example, b.example");
    EXPECT_EQ(text({of_all}, true), "to all hosts, but not those of the shipped splice list");
    EXPECT_EQ(text({of_clients}), R"(in tunnels that match bump.rules[1] {"source":"10.2.0.0/16"})");
    EXPECT_EQ(text({of_hosts, of_clients}, true),
              R"(to .a.example, b.example, and in tunnels that match bump.rules[1] {"source":"10.2.0.0/16"}, but not those of the )"
              "shipped splice list");
    EXPECT_EQ(text({rule(Action::splice, {.host = {host("c.example")}}, 0), of_all}, true),
              "to all hosts, but not those of the shipped splice list or of earlier rules");
    EXPECT_EQ(text({of_all, rule(Action::splice, {.host = {host("c.example")}}, 0)}), "to all hosts");
}

TEST(SpliceList, prevents_bumping_and_nothing_else) {
    auto rules = some_rules();
    auto& hosts = rules.all[1].match.host;
    std::vector<http::HostPattern> more(hosts.begin(), hosts.end());
    more.push_back(host(".1password.com"));
    hosts = http::HostSet(more);
    auto const listed = rules.decide(connect_to("My.PayPal.com."));
    EXPECT_EQ(listed.action, Action::splice);
    EXPECT_TRUE(listed.listed);
    EXPECT_EQ(rules.decide(connect_to("1password.com")).action, Action::terminate);
    rules.splice_list = false;
    EXPECT_EQ(rules.decide(connect_to("my.paypal.com")).action, Action::bump);
}

TEST(SpliceList, has_domains_with_all_names_below_them) {
    EXPECT_TRUE(is_on_splice_list("paypal.com"));
    EXPECT_TRUE(is_on_splice_list("a.b.PAYPAL.com."));
    EXPECT_FALSE(is_on_splice_list("notpaypal.com"));
    EXPECT_FALSE(is_on_splice_list("com"));
    EXPECT_FALSE(is_on_splice_list(""));
    EXPECT_FALSE(is_on_splice_list(std::string(300, 'a')));
    std::size_t count = 0;
    for (auto const& group : splice_list())
        for (auto const domain : group.domains) {
            ++count;
            EXPECT_TRUE(is_on_splice_list(domain)) << domain;
            EXPECT_TRUE(http::HostPattern::parse(domain)) << domain;
        }
    EXPECT_GT(count, 100u);
}

TEST(SpliceList, is_shown_by_its_file) {
    auto const path = test::source("etc/bump-splice-list.txt");
    if (std::getenv("GARNER_WRITE")) std::ofstream(path, std::ios::binary) << splice_list_text();
    std::ifstream file(path, std::ios::binary);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), splice_list_text())
        << "write it again with: GARNER_WRITE=1 build/asan/bump_test --gtest_filter='SpliceList.*'";
}

TEST(Decide, by_the_CONNECT_request_is_final_unless_a_rule_bumps) {
    auto const rules = some_rules();
    auto const spliced = decide(rules, connect_to("a.private.example"), {});
    EXPECT_FALSE(spliced.needs_hello());
    EXPECT_EQ(spliced.text(), "spliced: bump.rules[0]: splice {…}");
    EXPECT_EQ(decide(rules, connect_to("x.example", 80), {}).text(), "spliced: no rule matches");
    EXPECT_EQ(decide(rules, connect_to("bad.example"), {}).text(), "terminated: bump.rules[1]: terminate {…}");
    auto const bumped = decide(rules, connect_to("www.example"), {});
    EXPECT_TRUE(bumped.needs_hello());
    EXPECT_EQ(bumped.text(),
              "bumped, if the ClientHello names this host and offers HTTP, otherwise refused: bump.rules[2]: bump {…}");
    EXPECT_EQ(decide(splicing_otherwise(), connect_to("www.example"), {}).text(),
              "bumped, if the ClientHello names this host and offers HTTP: bump.rules[2]: bump {…}");
    EXPECT_EQ(decide(rules, connect_to("www.paypal.com"), {}).text(),
              "spliced: the host is on the shipped splice list, which precedes bump.rules[2]: bump {…}");
}

TEST(Decide, pins_and_name_constraints_only_prevent_bumping) {
    auto const rules = some_rules();
    Pin const pin{from_unix_seconds(1'000'000'000), false};
    auto const pinned = decide(rules, connect_to("www.example"), {.pin = pin});
    EXPECT_EQ(pinned.action, Action::splice);
    EXPECT_EQ(pinned.text(), "spliced: the client refused minted certificates of this host; until 2001-09-09 01:46:40 UTC");
    EXPECT_THAT(decide(rules, connect_to("www.example"), {.pin = Pin{pin.until, true}}).text(), HasSubstr(": clients refused"));
    EXPECT_EQ(decide(rules, connect_to("www.example"), {.permitted = false}).text(),
              "spliced: the name constraints of the CA do not permit this host");
    EXPECT_EQ(decide(rules, connect_to("bad.example"), {.pin = pin, .permitted = false}).action, Action::terminate);
}

TEST(Decide, a_hello_for_the_same_host_is_bumped) {
    auto const rules = some_rules();
    for (auto const* name : {"www.example", "WWW.example", "www.example."}) {
        auto const decision = decided(name, hello("www.example"), rules);
        EXPECT_EQ(decision.action, Action::bump);
        EXPECT_FALSE(decision.needs_hello());
        EXPECT_EQ(decision.text(), "bumped: bump.rules[2]: bump {…}");
    }
    EXPECT_EQ(decided("www.example", hello("www.example", {}), rules).action, Action::bump) << "no ALPN";
    EXPECT_EQ(decided("www.example", hello("www.example", {"foo", "http/1.1"}), rules).action, Action::bump);
    EXPECT_EQ(decided("www.example", hello("www.example", {"h2"}, true), rules).action, Action::bump) << "ECH as GREASE";
}

TEST(Decide, names_are_compared_without_case_and_one_final_dot) {
    EXPECT_TRUE(is_same_host("XN--Bcher-KVA.example", "xn--bcher-kva.example"));
    EXPECT_TRUE(is_same_host("www.example.", "www.example"));
    EXPECT_FALSE(is_same_host("www.example..", "www.example"));
    EXPECT_FALSE(is_same_host("www.example", "www.exampl"));
    EXPECT_FALSE(is_same_host("www.example", "example"));
    EXPECT_FALSE(is_same_host("192.0.2.1", "192.0.2.2"));
    EXPECT_TRUE(is_same_host("192.0.2.1", "192.0.2.1"));
    EXPECT_TRUE(is_same_host("2001:db8::1", "2001:db8:0::1"));
    EXPECT_FALSE(is_same_host("www.example", "192.0.2.1"));
}

TEST(Decide, an_address_needs_no_name) {
    auto const rules = some_rules();
    EXPECT_EQ(decided("192.0.2.1", hello(""), rules).action, Action::bump);
    EXPECT_EQ(decided("2001:db8::1", hello(""), rules).action, Action::bump);
    EXPECT_EQ(decided("192.0.2.1", hello("www.example"), rules).cause, Cause::name_differs);
    EXPECT_EQ(decided("www.example", hello(""), rules).cause, Cause::no_name);
}

TEST(Decide, other_hellos_are_refused_or_spliced_with_their_reason) {
    auto const rules = some_rules(), splicing = splicing_otherwise();
    struct Row {
        Hello reading;
        Cause cause;
        char const* text;
    };
    for (Row const& row :
         {Row{{.state = Hello::State::not_tls}, Cause::not_tls, "the client does not speak TLS"},
          Row{{.state = Hello::State::malformed, .reason = "a repeated extension"},
              Cause::malformed,
              "the ClientHello is malformed: a repeated extension"},
          Row{hello("other.example"), Cause::name_differs, "the ClientHello names another host than CONNECT: other.example"},
          Row{hello("www.example.other.example"), Cause::name_differs,
              "the ClientHello names another host than CONNECT: www.example.other.example"},
          Row{hello("private.example"), Cause::name_differs, "the ClientHello names another host than CONNECT: private.example"},
          Row{hello("other.example", {"h2"}, true), Cause::name_hidden,
              "the ClientHello names another host than CONNECT and may hide the name (ECH): other.example"},
          Row{hello(""), Cause::no_name, "the ClientHello names no host"},
          Row{hello("www.example", {"imap"}), Cause::no_http, "the client offers no HTTP protocol (ALPN)"}}) {
        auto const refused = decided("www.example", row.reading, rules);
        EXPECT_EQ(refused.action, Action::refuse);
        EXPECT_EQ(refused.cause, row.cause) << row.text;
        EXPECT_EQ(refused.text(), "refused: " + std::string(row.text) + " (bump.otherwise; bump.rules[2]: bump {…})");
        auto const spliced = decided("www.example", row.reading, splicing);
        EXPECT_EQ(spliced.action, Action::splice);
        EXPECT_EQ(spliced.text(), "spliced: " + std::string(row.text));
    }
}

TEST(Decide, a_client_without_a_ClientHello_is_refused_or_spliced) {
    for (auto const& rules : {some_rules(), splicing_otherwise()}) {
        auto const before = decide(rules, connect_to("www.example"), {});
        auto const decision = decide_without_hello(before, Cause::unfinished);
        EXPECT_FALSE(decision.needs_hello());
        EXPECT_EQ(decision.action, rules.otherwise == Otherwise::refuse ? Action::refuse : Action::splice);
        EXPECT_THAT(decision.text(), HasSubstr("no complete ClientHello came within 3 s"));
    }
}

TEST(Decide, only_a_hello_can_refuse_a_tunnel) {
    auto const rules = some_rules();
    Pin const pin{from_unix_seconds(1'000'000'000), false};
    EXPECT_EQ(decide(rules, connect_to("a.private.example"), {}).action, Action::splice);
    EXPECT_EQ(decide(rules, connect_to("www.example"), {.pin = pin}).action, Action::splice);
    EXPECT_EQ(decide(rules, connect_to("www.example", 8443), {}).action, Action::splice);
}

TEST(Decide, a_hidden_host_that_a_rule_terminates_is_terminated) {
    auto const rules = some_rules();
    auto const decision = decided("www.example", hello("bad.example"), rules);
    EXPECT_EQ(decision.action, Action::terminate);
    EXPECT_EQ(decision.text(), "terminated: the ClientHello names a host of bump.rules[1]: terminate {…}");
}

}   // namespace
}   // namespace garner::bump
