// The section with the configuration in use.
#include "admin/json_members.hpp"
#include "admin/page_sections.hpp"
#include "proxy/moment.hpp"

namespace garner::admin {

namespace config_part {

PageFigure since(Json const& stats) {
    auto const& value = at(stats, "config.since");
    auto const moment = WallTime(std::chrono::duration_cast<WallTime::duration>(seconds(number_at(stats, "config.since"))));
    return {value.is_number() ? proxy::moment_text(moment) : "-", "config.since", raw_text(value)};
}

PageFigure pending(Json const& stats) {
    std::string keys;
    auto const& list = at(stats, "config.pending");
    for (auto const& key : list)
        if (key.is_string()) keys += (keys.empty() ? "" : ", ") + key.get<std::string>();
    return {keys.empty() ? "none" : keys, "config.pending", raw_text(list)};
}

PageFigure unconfirmed(Json const& stats) {
    auto const& value = at(stats, "config.unconfirmed");
    return {value == 1 ? "no: run garner confirm, otherwise the former configuration returns" : "yes", "config.unconfirmed",
            raw_text(value)};
}

PageFigure refused(Json const& stats) {
    auto figure = figure_at(stats, "config.refused", "text");
    if (figure.text.empty()) figure.text = "none";
    return figure;
}

}   // namespace config_part

PageSection config_section(Json const& stats) {
    PageLines lines{"", {}};
    auto const add = [&](char const* name, PageFigure const& figure) {
        lines.lines.push_back({name, {figure}, false, why_of_figure(figure.stat)});
    };
    add("applied since the start", figure_at(stats, "config.generation", "configurations"));
    add("in use since", config_part::since(stats));
    add("confirmed", config_part::unconfirmed(stats));
    add("keys that wait for a takeover", config_part::pending(stats));
    add("error of the last reload", config_part::refused(stats));
    lines.lines.back().is_trouble = !text_at(stats, "config.refused").empty();
    PageSection section{"configuration", "Configuration"};
    section.lines.push_back(std::move(lines));
    return section;
}

}   // namespace garner::admin
