// Tables of the page whose rows are the elements of an array of /stats.json.
#pragma once
#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "admin/json_members.hpp"
#include "admin/page_sections.hpp"

namespace garner::admin {

struct PageColumn {
    char const* title;
    char const* member;   // of each element
    char const* unit;
};

/// Adds the columns and a row for each of the first `rows_max` elements of the array `list`, which is at `path`.
inline PageTable with_rows(PageTable table, Json const& list, std::string const& path, std::span<PageColumn const> columns,
                           std::size_t rows_max) {
    for (auto const& column : columns)
        table.columns.push_back({column.title, path + ".*." + column.member, std::string_view(column.unit) != "text"});
    for (std::size_t i = 0; list.is_array() && i < std::min(list.size(), rows_max); ++i) {
        PageTable::Row row{i, {}};
        for (auto const& column : columns) {
            auto const& value = at(list[i], column.member);
            row.cells.push_back({shown(value, column.unit), raw_text(value)});
        }
        table.rows.push_back(std::move(row));
    }
    return table;
}

}   // namespace garner::admin
