// The sections of the operator's page, each made from the statistics (/stats.json). Pure.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "admin/page_model.hpp"
#include "admin/summary.hpp"
#include "util/clock.hpp"

namespace garner::admin {

/// A section that has nothing to show returns an empty id.
using MakeSection = PageSection (*)(nlohmann::ordered_json const& stats);

/// In the order of the page. A new section needs a file with its function, which is declared below, and a row in page_sections.cpp.
std::span<MakeSection const> page_sections();

PageSection now_section(nlohmann::ordered_json const& stats);
PageSection top_hosts_section(nlohmann::ordered_json const& stats);
PageSection top_clients_section(nlohmann::ordered_json const& stats);
PageSection top_misses_section(nlohmann::ordered_json const& stats);
PageSection failures_section(nlohmann::ordered_json const& stats);
PageSection refusals_section(nlohmann::ordered_json const& stats);
PageSection share_section(nlohmann::ordered_json const& stats);
PageSection quotas_section(nlohmann::ordered_json const& stats);
PageSection mesh_section(nlohmann::ordered_json const& stats);
PageSection group_section(nlohmann::ordered_json const& stats);
PageSection what_if_section(nlohmann::ordered_json const& stats);
PageSection disk_section(nlohmann::ordered_json const& stats);
PageSection rules_section(nlohmann::ordered_json const& stats);
PageSection certificates_section(nlohmann::ordered_json const& stats);
PageSection config_section(nlohmann::ordered_json const& stats);
PageSection counters_section(nlohmann::ordered_json const& stats);

/// `now` is the time that the page tells.
PageModel page_model(nlohmann::ordered_json const& stats, WallTime now = wall_now());

// ---- for the files of the sections ----

/// The value as the page's data-value has it: a text as it is, anything else as JSON.
std::string raw_text(nlohmann::ordered_json const& value);
/// The figure at a path, in the unit of `shown()`.
PageFigure figure_at(nlohmann::ordered_json const& stats, std::string const& path, std::string_view unit);
/// In page_mesh_picture.cpp.
PagePicture mesh_picture(nlohmann::ordered_json const& stats);
/// The text whose explanation tells what the figure at a path means.
std::string why_of_figure(std::string const& path);
/// The lines of a section of the summary, with their figures.
PageLines lines_of(SummarySection const& section);
/// SVG path data through these heights from 0 to 1, from left to right; a negative one is a gap. The last one is at the right edge.
std::string path_of(std::span<double const> heights, std::size_t most);

}   // namespace garner::admin
