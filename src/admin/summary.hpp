// The figures of /stats.json in a person's words, for the page and for `garner stats`.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace garner::admin {

/// A figure in its unit (see Metric; also "µs" and "short count"). A figure that is missing, or of another kind because
/// another version answers, is "-".
std::string shown(nlohmann::ordered_json const& value, std::string_view unit);

struct SummaryLine {
    std::string name;
    std::vector<std::string> values;         // one for each column
    bool is_trouble = false;                 // a fault that the operator should mend
};

struct SummarySection {
    std::string title;
    std::vector<std::string> columns;        // their names; empty: one column without a name
    std::vector<SummaryLine> lines;
};

/// What a glance should catch; `note` is more about it, in small print.
struct Headline {
    std::string title;
    std::string value;
    std::string note;
};

/// "garner 0.1.0, up 2 h 10 min"
std::string summary_title(nlohmann::ordered_json const& stats);
std::vector<Headline> headlines(nlohmann::ordered_json const& stats);
std::vector<SummarySection> summary(nlohmann::ordered_json const& stats);

/// Hit ratios, estimated, of each policy at four sizes; the running one is marked. Nothing without enough traffic.
std::optional<SummarySection> what_if(nlohmann::ordered_json const& stats);
/// The same as lines of text, with what it stands on. Says so when there is nothing to tell yet.
std::string what_if_text(nlohmann::ordered_json const& stats);

/// All of it as lines of text, aligned.
std::string summary_text(nlohmann::ordered_json const& stats);
/// The same of the tiers of the cache alone: those that `stats` has.
std::string tiers_text(nlohmann::ordered_json const& stats);

}  // namespace garner::admin
