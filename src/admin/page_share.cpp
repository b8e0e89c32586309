// The section with the shares of the line and the caps.
#include <algorithm>
#include <span>

#include "admin/page_columns.hpp"
#include "util/units.hpp"

namespace garner::admin {

namespace share_part {

constexpr std::size_t rows_max = 20;

PageFigure rate_at(Json const& stats, std::string const& path) {
    auto const& value = at(stats, path);
    auto const rate = value.is_number_unsigned() ? value.get<std::uint64_t>() : 0;
    return {rate == 0 ? "no limit" : rate_text(rate), path, raw_text(value)};
}

PageLines lines(Json const& stats) {
    PageLines lines{"Line", {"from origins", "to origins"}};
    auto const both = [&](char const* name, auto const& figure) {
        auto const down = figure("down");
        lines.lines.push_back({name, {down, figure("up")}, false, why_of_figure(down.stat)});
    };
    both("limit", [&](char const* way) { return rate_at(stats, std::string("share.limit_bytes.") + way); });
    both("moved", [&](char const* way) { return figure_at(stats, std::string("share.bytes.") + way, "bytes"); });
    both("transfers that wait", [&](char const* way) { return figure_at(stats, std::string("share.waiting.") + way, "requests"); });
    return lines;
}

/// The first column has the name.
PageTable table(Json const& list, std::string const& path, PageTable table, std::span<PageColumn const> columns) {
    table.why = 0;
    return with_rows(std::move(table), list, path, columns, rows_max);
}

constexpr PageColumn of_subjects[]{{"user", "name", "text"},          {"weight", "weight", "requests"},
                                   {"down", "down_bytes", "bytes"},   {"down a second", "down_bytes_per_second", "bytes"},
                                   {"up", "up_bytes", "bytes"},       {"up a second", "up_bytes_per_second", "bytes"},
                                   {"waiting", "waiting", "requests"}};
constexpr PageColumn of_caps[]{{"cap", "name", "text"}, {"down", "down_bytes", "bytes"}, {"up", "up_bytes", "bytes"}};

}   // namespace share_part

PageSection share_section(Json const& stats) {
    auto const& caps = at(stats, "caps");
    bool const is_divided =
        raw_text(at(stats, "share.limit_bytes.down")) != "0" || raw_text(at(stats, "share.limit_bytes.up")) != "0";
    bool const is_capped = caps.is_array() && !caps.empty();
    if (!at(stats, "share.limit_bytes").is_object() || (!is_divided && !is_capped)) return {};
    PageSection section{"share", "Shares of the line"};
    section.lines.push_back(share_part::lines(stats));
    PageTable users{.id = "share-table",
                    .title = "Users with the most bytes",
                    .none = "No user has used the line yet.",
                    .columns = {},
                    .why_kind = "user "};
    section.tables.push_back(share_part::table(at(stats, "share.subjects"), "share.subjects", users, share_part::of_subjects));
    PageTable limits{.id = "caps-table", .title = "Caps", .none = "No caps are configured.", .columns = {}, .why_kind = "cap "};
    if (is_capped) section.tables.push_back(share_part::table(caps, "caps", limits, share_part::of_caps));
    return section;
}

}   // namespace garner::admin
