#include "proxy/way.hpp"

#include <gtest/gtest.h>

namespace garner::proxy {
namespace {

using Direct = icp::Question::Direct;
using http::Method;

http::RequestHead request(Method method, std::string_view name = {}, std::string_view value = {}) {
    http::RequestHead head;
    head.method = method;
    if (!name.empty()) head.fields.add(name, value);
    return head;
}

http::RequestCacheControl control(http::RequestHead const& head) { return http::parse_request_cache_control(head.fields); }

bool hierarchical(http::RequestHead const& head) { return is_hierarchical(head, control(head)); }

http::RuleRequest facts(std::string_view host, std::string_view url) {
    http::RuleRequest facts;
    facts.host = host;
    facts.url = url;
    return facts;
}

http::Matcher by_url(std::string part) {
    http::Matcher matcher;
    matcher.url_contains = {std::move(part)};
    return matcher;
}

http::Matcher by_network(std::string_view network) {
    http::Matcher matcher;
    matcher.destination = {*parse_network(network)};
    return matcher;
}

TEST(Way, peers_are_asked_for_what_any_cache_may_answer) {
    EXPECT_TRUE(hierarchical(request(Method::get)));
    EXPECT_TRUE(hierarchical(request(Method::get, "Cache-Control", "max-age=60")));
    EXPECT_FALSE(hierarchical(request(Method::head)));
    EXPECT_FALSE(hierarchical(request(Method::post)));
    EXPECT_FALSE(hierarchical(request(Method::get, "Authorization", "Basic eDp5")));
    EXPECT_FALSE(hierarchical(request(Method::get, "Cache-Control", "no-cache")));
    EXPECT_FALSE(hierarchical(request(Method::get, "Cache-Control", "max-age=0")));
    EXPECT_FALSE(hierarchical(request(Method::get, "Pragma", "no-cache")));
}

TEST(Way, the_direct_list_goes_before_the_one_that_forbids) {
    icp::DirectOptions lists;
    lists.always = {by_url("cgi-bin"), by_url("?")};
    lists.never = {by_url("cgi-bin/secret"), by_url("inner")};
    auto of = [&](std::string_view url) { return direct_of(lists, facts("a.test", url), nullptr); };
    EXPECT_EQ(of("http://a.test/x"), Direct::may);
    EXPECT_EQ(of("http://a.test/cgi-bin/x"), Direct::always);
    EXPECT_EQ(of("http://a.test/x?y"), Direct::always);
    EXPECT_EQ(of("http://a.test/cgi-bin/secret"), Direct::always);
    EXPECT_EQ(of("http://a.test/inner"), Direct::never);
}

TEST(Way, rules_for_networks_need_the_address) {
    icp::DirectOptions lists;
    lists.always = {by_network("10.0.0.0/8")};
    auto const asked = facts("a.test", "http://a.test/x");
    EXPECT_TRUE(needs_destination(lists, asked));
    EXPECT_EQ(direct_of(lists, asked, nullptr), Direct::may);
    auto const inside = IpAddress::v4(10, 1, 2, 3);
    auto const outside = IpAddress::v4(192, 0, 2, 1);
    EXPECT_EQ(direct_of(lists, asked, &inside), Direct::always);
    EXPECT_EQ(direct_of(lists, asked, &outside), Direct::may);
    lists.always.front().host = {*http::HostPattern::parse("b.test")};
    EXPECT_FALSE(needs_destination(lists, asked));
}

TEST(Way, the_first_rule_for_misses_decides) {
    http::AccessRule siblings;
    siblings.match.source = {*parse_network("10.0.0.0/8")};
    std::vector<http::AccessRule> rules{siblings};
    auto client = facts("a.test", "http://a.test/x");
    client.client = IpAddress::v4(10, 0, 0, 4);
    EXPECT_FALSE(may_have_misses(rules, client));
    http::AccessRule one;
    one.allow = true;
    one.match.source = {*parse_network("10.0.0.4")};
    rules.insert(rules.begin(), one);
    EXPECT_TRUE(may_have_misses(rules, client));
    client.client = IpAddress::v4(192, 0, 2, 1);
    EXPECT_TRUE(may_have_misses({}, client));
    EXPECT_TRUE(may_have_misses(rules, client));
}

}   // namespace
}   // namespace garner::proxy
