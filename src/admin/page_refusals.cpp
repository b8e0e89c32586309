// The sections with the last requests that got an error page: failed and refused ones.
#include <algorithm>
#include <array>

#include "admin/json_members.hpp"
#include "admin/page_sections.hpp"

namespace garner::admin {

namespace refusals_part {

constexpr std::size_t rows_max = 12;

struct Kind {
    char const* id;   // also its member of /stats.json
    char const* title;
    char const* cause;   // the member with the reason or the rule
    char const* none;
};

/// "11-26 12:03:10" of "2026-11-26T12:03:10Z"
std::string short_time(std::string const& moment) {
    constexpr std::size_t whole = 20, year = 5, date = 5, time = 8;
    if (moment.size() != whole) return moment;
    return moment.substr(year, date) + " " + moment.substr(year + date + 1, time);
}

PageSection section(Json const& stats, Kind const& kind) {
    std::array const members{"time", "client", "user", "method", "url", kind.cause, "id"};
    PageTable table{std::string(kind.id) + "-table", "", kind.none, {}};
    for (auto const* member : members) table.columns.push_back({member, std::string(kind.id) + ".*." + member, false});
    table.columns.front().title = "time (UTC)";
    table.why = members.size() - 1;   // the id
    auto const& list = at(stats, kind.id);
    for (std::size_t i = 0; list.is_array() && i < std::min(list.size(), rows_max); ++i) {
        PageTable::Row row{i, {}};
        for (auto const* member : members) row.cells.push_back({text_at(list[i], member)});
        auto& time = row.cells.front();
        time = {short_time(time.text), time.text};
        table.rows.push_back(std::move(row));
    }
    PageSection section{kind.id, kind.title};
    section.tables.push_back(std::move(table));
    return section;
}

}   // namespace refusals_part

PageSection failures_section(Json const& stats) {
    return refusals_part::section(stats, {"failures", "Last failures", "reason", "No request failed since the start."});
}

PageSection refusals_section(Json const& stats) {
    return refusals_part::section(stats, {"refusals", "Last refusals", "rule", "No request was refused since the start."});
}

}   // namespace garner::admin
