#include "proxy/way.hpp"

#include <algorithm>

namespace garner::proxy {

using http::Matcher;
using http::Name;

namespace {

bool any_matches(std::span<Matcher const> rules, http::RuleRequest const& facts, IpAddress const* destination,
                 Matcher::Result answer) {
    return std::any_of(rules.begin(), rules.end(), [&](Matcher const& rule) { return rule.matches(facts, destination) == answer; });
}

}   // namespace

bool is_hierarchical(http::RequestHead const& request, http::RequestCacheControl const& control) {
    return request.method == http::Method::get && !request.fields.has(Name::authorization) && !control.is_reload();
}

icp::Question::Direct direct_of(icp::DirectOptions const& lists, http::RuleRequest const& facts, IpAddress const* destination) {
    using enum icp::Question::Direct;
    if (any_matches(lists.always, facts, destination, Matcher::Result::yes)) return always;
    return any_matches(lists.never, facts, destination, Matcher::Result::yes) ? never : may;
}

bool needs_destination(icp::DirectOptions const& lists, http::RuleRequest const& facts) {
    return any_matches(lists.always, facts, nullptr, Matcher::Result::needs_destination) ||
           any_matches(lists.never, facts, nullptr, Matcher::Result::needs_destination);
}

bool may_have_misses(std::span<http::AccessRule const> rules, http::RuleRequest const& facts) {
    for (auto const& rule : rules)
        if (rule.matches(facts, nullptr) == Matcher::Result::yes) return rule.allow;
    return true;
}

}   // namespace garner::proxy
