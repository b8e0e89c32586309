// garner rules why: each access rule, matched or not, and the one that decides.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "proxy/rule_question.hpp"

namespace garner::config {

/// One access rule and a request. Views and pointers: valid as long as the rules.
struct RuleTrace {
    http::AccessRule const* rule = nullptr;
    http::Matcher::Result result = http::Matcher::Result::no;
    std::vector<std::string> failing;   // the matchers that do not match or are undecided
    bool decides = false;
};

struct RulesTrace {
    http::Decision decision;
    std::vector<RuleTrace> rules;         // in order, also those after the one that decides
    std::optional<std::size_t> nearest;   // unless allowed: the allow rule with the fewest failing matchers, the first of those
};

/// After inquiry.ask().
RulesTrace trace_rules(proxy::RuleInquiry const&, http::AccessRules const&);

std::string text_of(RulesTrace const&);
nlohmann::ordered_json as_json(RulesTrace const&);

}   // namespace garner::config
