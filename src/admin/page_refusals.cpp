// The section with the last refused requests.
#include <algorithm>
#include <array>

#include "admin/json_members.hpp"
#include "admin/page_sections.hpp"

namespace garner::admin {

namespace refusals_part {

constexpr std::size_t rows_max = 12;
constexpr std::array members{"time", "client", "user", "method", "url", "rule", "id"};

/// "11-26 12:03:10" of "2026-11-26T12:03:10Z"
std::string short_time(std::string const& moment) {
    constexpr std::size_t whole = 20, year = 5, date = 5, time = 8;
    if (moment.size() != whole) return moment;
    return moment.substr(year, date) + " " + moment.substr(year + date + 1, time);
}

PageTable::Row row(Json const& one, std::size_t index) {
    PageTable::Row row{index, {}};
    for (auto const* member : members) row.cells.push_back({text_at(one, member)});
    auto& time = row.cells.front();
    time = {short_time(time.text), time.text};
    return row;
}

}   // namespace refusals_part

PageSection refusals_section(Json const& stats) {
    PageTable table{"refusals-table", "", "No request was refused since the start.", {}};
    for (auto const* member : refusals_part::members) table.columns.push_back({member, std::string("refusals.*.") + member, false});
    table.columns.front().title = "time (UTC)";
    table.why = refusals_part::members.size() - 1;   // the id
    auto const& rows = at(stats, "refusals");
    auto const count = rows.is_array() ? rows.size() : 0;
    for (std::size_t i = 0; i < std::min(count, refusals_part::rows_max); ++i) table.rows.push_back(refusals_part::row(rows[i], i));
    PageSection section{"refusals", "Last refusals"};
    section.tables.push_back(std::move(table));
    return section;
}

}   // namespace garner::admin
