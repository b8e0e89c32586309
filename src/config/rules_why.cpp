#include "config/rules_why.hpp"

#include <algorithm>

#include "config/rule_lines.hpp"

namespace garner::config {
namespace {

using MatchResult = http::Matcher::Result;

std::string joined(std::vector<std::string> const& texts) {
    std::string all;
    for (auto const& text : texts) all += (all.empty() ? "" : ", ") + text;
    return all;
}

std::string_view name_of(MatchResult result) {
    switch (result) {
    case MatchResult::no: return "no match";
    case MatchResult::needs_destination: return "undecided, the address is missing";
    case MatchResult::needs_identity: return "undecided, a login is missing";
    case MatchResult::yes: return "matches";
    }
    return "";
}

/// The allow rule that is nearest to a match.
std::optional<std::size_t> nearest_of(std::vector<RuleTrace> const& rules) {
    std::optional<std::size_t> nearest;
    for (std::size_t i = 0; i < rules.size(); ++i) {
        bool const is_nearer = !nearest || rules[i].failing.size() < rules[*nearest].failing.size();
        if (rules[i].rule->allow && is_nearer) nearest = i;
    }
    return nearest;
}

std::string line_of(RuleTrace const& trace) {
    auto const& rule = *trace.rule;
    std::string line = rule.place;
    if (!rule.name.empty()) line += " " + rule.name;
    line += " " + rule.matchers + ": " + std::string(name_of(trace.result));
    if (!trace.failing.empty()) line += " (" + joined(trace.failing) + ")";
    return "  " + line + (trace.decides ? "; decides\n" : "\n");
}

}   // namespace

RulesTrace trace_rules(proxy::RuleInquiry const& inquiry, http::AccessRules const& access) {
    RulesTrace trace;
    trace.decision = inquiry.decide();
    auto const* destination = inquiry.destination() ? &*inquiry.destination() : nullptr;
    for (auto const& rule : access.rules()) {
        RuleTrace one{.rule = &rule, .failing = rule.match.failing(inquiry.facts(), destination, rule.doubt())};
        one.result = rule.matches(inquiry.facts(), destination);
        one.decides = position_of(rule) == trace.decision.place();
        trace.rules.push_back(std::move(one));
    }
    if (!trace.decision.allowed()) trace.nearest = nearest_of(trace.rules);
    return trace;
}

std::string text_of(RulesTrace const& trace) {
    auto const& decision = trace.decision;
    auto text = std::string(proxy::name_of(decision.verdict)) + " by " + decision.text() + "\n";
    if (!decision.because.empty()) text.append("because: ").append(decision.because).append("\n");
    for (auto const& rule : trace.rules) text += line_of(rule);
    if (!trace.nearest) return text;
    auto const& nearest = trace.rules[*trace.nearest];
    text.append("nearest allow rule: ").append(position_of(*nearest.rule));
    if (!nearest.failing.empty()) return text + ", which does not match because of: " + joined(nearest.failing) + "\n";
    if (nearest.decides && decision.denied()) return text + "; the destination is blocked by default\n";
    if (nearest.decides) return text + "; the destination decides\n";
    return text + ", which comes after " + rule_that_decides(decision) + "\n";
}

nlohmann::ordered_json as_json(RulesTrace const& trace) {
    using OrderedJson = nlohmann::ordered_json;
    auto const or_null = [](std::string const& text) { return text.empty() ? OrderedJson(nullptr) : OrderedJson(text); };
    auto json = as_json(trace.decision);
    json["because"] = or_null(std::string(trace.decision.because));
    auto& rules = json["rules"] = OrderedJson::array();
    for (auto const& one : trace.rules)
        rules.push_back({{"rule", std::string(position_of(*one.rule))},
                         {"name", or_null(one.rule->name)},
                         {"action", one.rule->allow ? "allow" : "deny"},
                         {"matchers", one.rule->matchers},
                         {"result", std::string(name_of(one.result))},
                         {"failing", one.failing},
                         {"decides", one.decides}});
    json["nearest"] = nullptr;
    if (trace.nearest)
        json["nearest"] = {{"rule", std::string(position_of(*trace.rules[*trace.nearest].rule))},
                           {"failing", trace.rules[*trace.nearest].failing}};
    return json;
}

}   // namespace garner::config
