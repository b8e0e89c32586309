#include "http/caching_rules.hpp"

#include <gtest/gtest.h>

namespace garner::http {
namespace {

RuleRequest a_request() {
    return {.client = *parse_ip("127.0.0.1"), .host = "example.com", .port = 80, .url = "http://example.com/a?b"};
}

TEST(CachingRules, match_the_media_type) {
    CachingRule rule;
    rule.type = {"image/*", "text/css"};
    auto const asked = a_request();
    EXPECT_TRUE(rule.applies(asked, "image/png"));
    EXPECT_TRUE(rule.applies(asked, "Text/CSS; charset=utf-8"));
    EXPECT_FALSE(rule.applies(asked, "text/html"));
    EXPECT_FALSE(rule.applies(asked, "image/"));
    EXPECT_FALSE(rule.applies(asked, ""));
    rule.type.clear();
    EXPECT_TRUE(rule.applies(asked, ""));
    rule.match.host = {*HostPattern::parse("other.test")};
    EXPECT_FALSE(rule.applies(asked, ""));
}

TEST(CachingRules, the_first_rule_that_speaks_of_reloads_decides) {
    std::vector<CachingRule> rules(4);
    rules[0].never = false;
    rules[1].match.host = {*HostPattern::parse("other.test")};
    rules[1].reload = Reload::ignore;
    auto const asked = a_request();
    EXPECT_EQ(reload_for(rules, asked), Reload::honour);
    rules[2].reload = Reload::ignore;
    rules[3].reload = Reload::honour;
    EXPECT_EQ(reload_for(rules, asked), Reload::ignore);
    std::swap(rules[2], rules[3]);
    EXPECT_EQ(reload_for(rules, asked), Reload::honour);
    rules[2].type = {"text/html"};
    EXPECT_EQ(reload_for(rules, asked), Reload::ignore);
}

}   // namespace
}   // namespace garner::http
