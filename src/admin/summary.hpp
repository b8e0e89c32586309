// The statistics of /stats.json as readable text, for the admin page and `garner stats`.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/clock.hpp"

namespace garner::admin {

/// A value in its unit (see Metric; also "µs", "short count", and "short time": seconds as "340 ms"). A value that is missing, or
/// has another type because another version answers, is "-".
std::string shown(nlohmann::ordered_json const& value, std::string_view unit);

/// The path of a value in /stats.json, and the value there.
struct StatRef {
    std::string path;
    std::string value;   // a text, or JSON
};

struct SummaryLine {
    std::string name;
    std::vector<std::string> values;   // one for each column
    bool is_trouble = false;           // an error that the operator should fix
    std::vector<StatRef> stats = {};   // one for each value, if known
};

struct SummarySection {
    std::string title;
    std::vector<std::string> columns;   // their names; empty: one column without a name
    std::vector<SummaryLine> lines;
};

/// "garner 0.1.0, up 2 h 10 min"
std::string summary_title(nlohmann::ordered_json const& stats);
/// `now`: certificates have their end and the days that are left.
std::vector<SummarySection> summary(nlohmann::ordered_json const& stats, WallTime now = wall_now());

/// One section of the metrics' table by its name there: "Disk".
SummarySection summary_section(nlohmann::ordered_json const& stats, char const* title);
/// Whether a disk is configured; whether there are peers, or other caches send queries.
bool has_disk(nlohmann::ordered_json const& stats);
bool has_mesh(nlohmann::ordered_json const& stats);

/// Estimated hit ratios of each policy at four sizes; the policy in use is marked. Empty without enough traffic.
std::optional<SummarySection> what_if(nlohmann::ordered_json const& stats);
/// Lines of text with the traffic that the estimate is based on, or a line that reports that there is no estimate yet.
std::string what_if_text(nlohmann::ordered_json const& stats);

/// The sentence of the health, and a line for each problem; empty if another version answers, which does not know it.
std::string health_text(nlohmann::ordered_json const& stats);
/// The health, then the whole summary as aligned lines of text.
std::string summary_text(nlohmann::ordered_json const& stats);
/// Lines of text about the tiers of the cache that `stats` has.
std::string tiers_text(nlohmann::ordered_json const& stats);

}   // namespace garner::admin
