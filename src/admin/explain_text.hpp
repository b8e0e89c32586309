// The result of /explain as readable text, for `garner explain`.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace garner::admin {

struct ExplainLine {
    std::string subject;   // "stored"; empty: that of the line before
    std::string text;
};

/// The reasons, the verdict first. Leaves out members that another version does not send. Control characters are replaced.
std::vector<ExplainLine> explain_lines(nlohmann::ordered_json const& explained);

/// The verdict in the first line, then its reasons.
std::string explain_text(nlohmann::ordered_json const& explained);

}   // namespace garner::admin
