#include "bump/rules.hpp"

#include <algorithm>

#include "bump/splice_list.hpp"

namespace garner::bump {
namespace {

bool has_more_than_hosts(http::Matcher match) {
    match.host = {};
    return !match.matches_all();
}

/// Each once.
std::string joined(std::vector<std::string> const& texts) {
    std::string out;
    for (auto text = texts.begin(); text != texts.end(); ++text)
        if (std::find(texts.begin(), text, *text) == text) out += (out.empty() ? "" : ", ") + *text;
    return out;
}

/// The hosts and tunnels that are not bumped although a rule bumps them.
std::string exceptions(Rules const& rules) {
    auto const is_other = [](Rule const& rule) { return rule.action != Action::bump; };
    auto const last_bump = std::ranges::find(rules.all.rbegin(), rules.all.rend(), Action::bump, &Rule::action).base();
    bool const has_earlier = std::any_of(rules.all.begin(), last_bump, is_other);
    std::string text = rules.splice_list ? "those of the shipped splice list" : "";
    if (has_earlier) text += (text.empty() ? "those of earlier rules" : " or of earlier rules");
    return text;
}

}   // namespace

Verdict Rules::decide(http::RuleRequest const& request) const {
    auto const matches = [&](Rule const& rule) { return rule.match.matches(request, nullptr) == http::Matcher::Result::yes; };
    auto const rule = std::ranges::find_if(all, matches);
    if (rule == all.end()) return {};
    bool const listed = rule->action == Action::bump && splice_list && is_on_splice_list(request.host);
    return {listed ? Action::splice : rule->action, rule->name, rule->matchers, listed};
}

bool Rules::any_applies() const {
    return std::ranges::any_of(all, [](Rule const& rule) { return rule.action != Action::splice; });
}

bool Rules::any_bumps() const { return std::ranges::count(all, Action::bump, &Rule::action) > 0; }

std::vector<http::HostPattern> Rules::bumped_hosts() const {
    std::vector<http::HostPattern> hosts;
    for (auto const& rule : all) {
        if (rule.action != Action::bump) continue;
        if (rule.match.host.empty()) return {};
        for (auto const& host : rule.match.host)
            if (std::ranges::count(hosts, host) == 0) hosts.push_back(host);
    }
    return hosts;
}

std::string Rules::text_of_bumped() const {
    if (!any_bumps()) return {};
    std::vector<std::string> hosts, tunnels;
    for (auto const& rule : all) {
        if (rule.action != Action::bump) continue;
        if (has_more_than_hosts(rule.match))
            tunnels.push_back(rule.name.substr(0, rule.name.find(':')) + " " + rule.matchers);
        else if (rule.match.host.empty())
            hosts.push_back("all hosts");
        else
            for (auto const& host : rule.match.host) hosts.push_back(host.text());
    }
    std::string text = hosts.empty() ? "" : "to " + joined(hosts);
    if (!tunnels.empty()) text += (text.empty() ? "in tunnels that match " : ", and in tunnels that match ") + joined(tunnels);
    auto const excepted = exceptions(*this);
    return text + (excepted.empty() ? "" : ", but not " + excepted);
}

}   // namespace garner::bump
