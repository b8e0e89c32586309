// The form of matchers, which all rules use.
#pragma once
#include "config/object_form.hpp"
#include "http/matcher.hpp"

namespace garner::config {

/// "all", or an object of matchers.
Form<http::Matcher> matcher_form();

/// The keys of an object of matchers.
Table<http::Matcher> matcher_keys();

/// The matchers as configured, {"host":".example.com"}, for logs and explanations; long ones are shortened.
std::string text_of_matchers(Json const&);

/// A non-empty part of a URL.
Form<std::string> part_of_url();
/// "text/css", "image/*"; stored in lower case.
Form<std::string> media_type();

/// The matchers, described once: matcher_form() calls itself "matchers" and refers to "#/definitions/matchers".
std::vector<KeyNote> matcher_notes();
Schema matcher_schema();

/// A fault if the matcher, or a named one that it uses, asks for the user: the rule is checked where no login is asked for.
bool check_without_users(Reader&, http::Matcher const&);

}   // namespace garner::config
