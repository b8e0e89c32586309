// Forms of rules: all rules use the same matchers.
#pragma once
#include <utility>
#include <vector>

#include "config/object_form.hpp"
#include "http/access_rules.hpp"
#include "http/caching_rules.hpp"
#include "http/matcher.hpp"

namespace garner::config {

/// Rules of the form { "allow": matchers } or { "deny": matchers }, with name and because.
Form<http::AccessRules> access_rules();
/// Without `destination`.
Form<http::AccessRules> purge_rules();
/// Without `destination`, `user` and `group`.
Form<std::vector<http::AccessRule>> miss_rules();
/// Matchers without `destination`, `user` and `group`, `type`, and the settings.
Form<http::CachingRule> caching_rule();

// ---- for rules that have their matchers beside their settings ----

/// matching_rule() without the type. `match`: the place of the Matcher in the rule.
AnyForm any_matching_rule(Table<http::Matcher> const& matching, Place match, std::vector<AnyRow> settings, CheckAny check);

/// An object of matchers and settings. The matchers are documented once, and not at every key that takes them.
template <class Rule>
Form<Rule> matching_rule(Table<http::Matcher> const& matching, Table<Rule> settings, Afterwards<Rule> check) {
    http::Matcher Rule::*const match = &Rule::match;
    return Form<Rule>(any_matching_rule(matching, place_of<Rule>(match), std::move(settings.rows), std::move(check.any)));
}

}   // namespace garner::config
