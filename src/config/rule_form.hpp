// Forms of rules: all rules use the same matchers.
#pragma once
#include "config/form.hpp"
#include "http/access_rules.hpp"
#include "http/caching_rules.hpp"

namespace garner::config {

/// { "allow": matchers } or { "deny": matchers }, with name and because.
Form<http::AccessRule> access_rule();
/// Matchers without `destination`, `user` and `group`, `type`, and the settings.
Form<http::CachingRule> caching_rule();

}   // namespace garner::config
