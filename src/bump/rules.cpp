#include "bump/rules.hpp"

#include <algorithm>

#include "bump/splice_list.hpp"

namespace garner::bump {

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
    std::string text;
    for (auto const& host : bumped_hosts()) text += (text.empty() ? "" : ", ") + host.text();
    if (text.empty()) text = "all hosts";
    return text + (splice_list ? ", but not those of the shipped splice list" : "");
}

}   // namespace garner::bump
