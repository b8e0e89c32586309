// The section with the certificates and their ends.
#include <algorithm>

#include "admin/health.hpp"
#include "admin/json_members.hpp"
#include "admin/page_sections.hpp"
#include "proxy/moment.hpp"

namespace garner::admin {

namespace certificates_part {

PageTable::Row row(Json const& one, std::size_t index) {
    auto const& days = at(one, "days_left");
    auto const end = number_at(one, "not_after");
    auto const moment = WallTime(std::chrono::duration_cast<WallTime::duration>(seconds(end)));
    PageTable::Row row{index,
                       {{text_at(one, "name")},
                        {days.is_number() && days.get<double>() < 0 ? "expired" : raw_text(days), raw_text(days)},
                        {proxy::moment_text(moment), raw_text(at(one, "not_after"))}}};
    row.is_trouble = number_at(one, "days_left") <= HealthLimits::certificate.count();
    return row;
}

}   // namespace certificates_part

/// The first to end comes first.
PageSection certificates_section(Json const& stats) {
    PageTable table{"certificates-table",
                    "",
                    "No certificates are shown to clients or peers.",
                    {{"certificate", "certificates.*.name", false},
                     {"days left", "certificates.*.days_left"},
                     {"end", "certificates.*.not_after"}}};
    table.why = 0;
    table.why_kind = "certificate ";
    auto const& list = at(stats, "certificates");
    for (std::size_t i = 0; list.is_array() && i < list.size(); ++i) table.rows.push_back(certificates_part::row(list[i], i));
    auto const end = [&](PageTable::Row const& row) { return number_at(list[row.index], "not_after"); };
    std::ranges::stable_sort(table.rows, {}, end);
    PageSection section{"certificates", "Certificates"};
    section.tables.push_back(std::move(table));
    return section;
}

}   // namespace garner::admin
