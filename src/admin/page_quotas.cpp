// The section with the quotas and what their subjects have used.
#include <algorithm>

#include "admin/json_members.hpp"
#include "admin/page_sections.hpp"
#include "admin/quota_text.hpp"

namespace garner::admin {

namespace quotas_part {

constexpr std::size_t rows_max = 20;

PageTable::Row row(Json const& quota, std::size_t number) {
    PageTable::Row row{number, {}};
    auto const add = [&](std::string shown, char const* member) {
        row.cells.push_back({std::move(shown), raw_text(at(quota, member))});
    };
    add(text_at(quota, "name"), "name");
    add(text_at(quota, "subject"), "subject");
    add(quota_used_text(quota), "used");
    add(quota_state_text(quota), "state");
    add(quota_until_text(quota), "until");
    return row;
}

}   // namespace quotas_part

PageSection quotas_section(Json const& stats) {
    auto const& quotas = at(stats, "quotas");
    if (!quotas.is_array() || quotas.empty()) return {};
    PageSection section{"quotas", "Quotas"};
    PageTable table{.id = "quotas-table",
                    .title = "Users that have used most of a quota",
                    .none = "No quota has counted anything yet.",
                    .columns = {},
                    .why = 0,
                    .why_kind = "quota "};
    for (auto const& [title, member] :
         {std::pair{"quota", "name"}, {"user", "subject"}, {"used", "used"}, {"state", "state"}, {"until", "until"}})
        table.columns.push_back({title, std::string("quotas.*.") + member, false});
    for (std::size_t i = 0; i < std::min(quotas.size(), quotas_part::rows_max); ++i)
        table.rows.push_back(quotas_part::row(quotas[i], i));
    section.tables.push_back(std::move(table));
    return section;
}

}   // namespace garner::admin
