// Questions and decisions as lines of JSON: `garner rules decide`.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "proxy/rule_question.hpp"
#include "util/result.hpp"

namespace garner::config {

/// Reads {"url": …} with `at`, `source`, `listener`, `user`, `groups`, `method`, `destination` and `fields`, of which all but `url`
/// may be left out or null. `fields` is an object of values or lists of values by name, or a list of lines. A fault names the
/// member.
Result<proxy::RuleQuestion> read_question(std::string_view json, WallTime now);

/// "access[3]"
std::string_view position_of(http::AccessRule const&);

/// The rule that decides, and what it waits for: "access[3]", "access[3], which asks for a login".
std::string rule_that_decides(http::Decision const&);

/// {"verdict": "deny", "rule": "access[3]", "name": "exams", "needs": null, "closed": null}; `needs`: the member of the question that
/// the decision is missing.
nlohmann::ordered_json as_json(http::Decision const&);

/// The answer to one line, without a newline: as_json(), or {"error": …} for a line that is no question.
std::string decide_line(proxy::RuleInquiry&, std::string_view line, WallTime now);

}   // namespace garner::config
