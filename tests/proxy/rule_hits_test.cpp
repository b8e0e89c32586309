#include "proxy/rule_hits.hpp"

#include <gtest/gtest.h>

namespace garner::proxy {
namespace {

http::AccessRules rules(std::vector<std::string> const& matchers) {
    std::vector<http::AccessRule> all;
    for (auto const& text : matchers) {
        http::AccessRule rule;
        rule.place = "access[" + std::to_string(all.size()) + "]: deny";
        rule.matchers = text;
        all.push_back(rule);
    }
    return http::AccessRules(std::move(all));
}

TEST(RuleHits, are_summed_over_workers) {
    RuleHits hits(3, 2);
    hits.add(0, 1);
    hits.add(1, 1);
    hits.add(1, 2);
    EXPECT_EQ(hits.sums(), (std::vector<std::uint64_t>{0, 2, 1}));
    EXPECT_TRUE(RuleHits(0, 2).sums().empty());
}

TEST(RuleHits, belong_to_rules_that_are_configured_alike) {
    EXPECT_TRUE(are_same_rules(rules({"a", "b"}), rules({"a", "b"})));
    EXPECT_FALSE(are_same_rules(rules({"a", "b"}), rules({"b", "a"})));
    EXPECT_FALSE(are_same_rules(rules({"a", "b"}), rules({"a"})));
}

}   // namespace
}   // namespace garner::proxy
