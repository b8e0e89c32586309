// Forms for rules: the matchers are the same wherever a rule is written.
#pragma once
#include "config/form.hpp"
#include "http/rule.hpp"

namespace garner::config {

/// "all", or an object of matchers.
Form<http::Matcher> matcher();
/// { "allow": matchers } or { "deny": matchers }.
Form<http::AccessRule> access_rule();
/// Matchers without `destination`, `type`, and what to do.
Form<http::CachingRule> caching_rule();

/// A part of a URL, not empty.
Form<std::string> part_of_url();

/// The matchers, described once: matcher() calls itself "matchers" and refers to "#/definitions/matchers".
std::vector<KeyNote> matcher_notes();
Schema matcher_schema();

}  // namespace garner::config
