#include "admin/page_sections.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "admin/json_members.hpp"
#include "proxy/moment.hpp"

namespace garner::admin {

namespace {

constexpr MakeSection all_sections[]{now_section,      top_hosts_section,    top_clients_section, top_misses_section,
                                     failures_section, refusals_section,     share_section,       quotas_section,
                                     mesh_section,     group_section,        what_if_section,     disk_section,
                                     rules_section,    certificates_section, config_section,      counters_section};

PageHealth health_part(Json const& stats) {
    PageHealth health{text_at(stats, "health.state"), figure_at(stats, "health.sentence", "text")};
    for (auto const& item : at(stats, "health.items"))
        health.items.push_back({text_at(item, "state"), text_at(item, "what"), text_at(item, "fix"), text_at(item, "section"), ""});
    if (health.items.size() == 1) health.items.front().what.clear();
    return health;
}

/// The links of the problems get the titles of their sections.
void name_sections(PageModel& model) {
    for (auto& item : model.health.items) {
        auto const found = std::ranges::find(model.sections, item.section, &PageSection::id);
        if (found != model.sections.end()) item.title = found->title;
    }
}

/// "12:03:10 UTC" of "2026-11-26T12:03:10Z"
std::string clock_text(WallTime now) {
    constexpr std::size_t date_size = 11, time_size = 8;
    return proxy::moment_text(now).substr(date_size, time_size) + " UTC";
}

}   // namespace

std::span<MakeSection const> page_sections() { return all_sections; }

PageModel page_model(Json const& stats, WallTime now) {
    PageModel model{summary_title(stats), clock_text(now), health_part(stats)};
    for (auto const make : page_sections())
        if (auto section = make(stats); !section.id.empty()) model.sections.push_back(std::move(section));
    name_sections(model);
    return model;
}

std::string raw_text(Json const& value) {
    return value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

PageFigure figure_at(Json const& stats, std::string const& path, std::string_view unit) {
    auto const& value = at(stats, path);
    return {shown(value, unit), path, raw_text(value)};
}

std::string why_of_figure(std::string const& path) { return "figure " + path; }

PageLines lines_of(SummarySection const& section) {
    PageLines lines{section.title, section.columns};
    for (auto const& line : section.lines) {
        PageLines::Line shown{line.name, {}, line.is_trouble};
        if (!line.stats.empty()) shown.why = why_of_figure(line.stats.front().path);
        for (std::size_t i = 0; i < line.values.size(); ++i) {
            PageFigure figure{line.values[i]};
            if (i < line.stats.size()) figure.stat = line.stats[i].path, figure.value = line.stats[i].value;
            shown.figures.push_back(std::move(figure));
        }
        lines.lines.push_back(std::move(shown));
    }
    return lines;
}

std::string path_of(std::span<double const> heights, std::size_t most) {
    constexpr double bottom = 31, height = 30, width = 120;
    std::string path;
    int last_x = 0, last_y = 0;
    bool is_open = false;
    for (std::size_t i = 0; i < heights.size(); ++i) {
        if (heights[i] < 0) {
            is_open = false;
            continue;
        }
        auto const from_right =
            static_cast<double>(heights.size() - 1 - i) / static_cast<double>(std::max<std::size_t>(most - 1, 1));
        int const x = static_cast<int>(std::lround(width - from_right * width));
        int const y = static_cast<int>(std::lround(bottom - std::min(heights[i], 1.0) * height));
        if (is_open)
            path += "l" + std::to_string(x - last_x) + " " + std::to_string(y - last_y);
        else
            path += "M" + std::to_string(x) + " " + std::to_string(y) + "h0";   // a single point shows as a dot
        is_open = true;
        last_x = x, last_y = y;
    }
    return path;
}

}   // namespace garner::admin
