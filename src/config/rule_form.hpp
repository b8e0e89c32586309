// Forms of rules: all rules use the same matchers.
#pragma once
#include <vector>

#include "config/form.hpp"
#include "http/access_rules.hpp"
#include "http/caching_rules.hpp"

namespace garner::config {

/// Rules of the form { "allow": matchers } or { "deny": matchers }, with name and because.
Form<http::AccessRules> access_rules();
/// Without `destination`.
Form<http::AccessRules> purge_rules();
/// Without `destination`, `user` and `group`.
Form<std::vector<http::AccessRule>> miss_rules();
/// Matchers without `destination`, `user` and `group`, `type`, and the settings.
Form<http::CachingRule> caching_rule();

}   // namespace garner::config
