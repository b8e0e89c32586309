// Forms of rules: all rules use the same matchers.
#pragma once
#include "config/form.hpp"
#include "http/rule.hpp"

namespace garner::config {

/// "all", or an object of matchers.
Form<http::Matcher> matcher();
/// { "allow": matchers } or { "deny": matchers }.
Form<http::AccessRule> access_rule();
/// Matchers without `destination`, `type`, and the settings.
Form<http::CachingRule> caching_rule();

/// The matchers as configured, {"host":".example.com"}, for logs and explanations; long ones are shortened.
std::string text_of_matchers(Json const&);

/// A non-empty part of a URL.
Form<std::string> part_of_url();

/// The matchers, described once: matcher() calls itself "matchers" and refers to "#/definitions/matchers".
std::vector<KeyNote> matcher_notes();
Schema matcher_schema();

}   // namespace garner::config
