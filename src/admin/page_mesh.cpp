// The section with origins, parents, siblings, and the caches that query this one.
#include <algorithm>

#include "admin/human.hpp"
#include "admin/json_members.hpp"
#include "admin/page_sections.hpp"

namespace garner::admin {

namespace mesh_part {

struct Column {
    char const* title;
    char const* member;
    char const* unit;
};

constexpr Column columns[]{{"name", "name", "text"},
                           {"type", "type", "text"},
                           {"state", "state", "text"},
                           {"host", "host", "text"},
                           {"reply in", "query_rtt_ms", "ms"},
                           {"connect in", "connect_rtt_ms", "ms"},
                           {"queries", "queries", "queries"},
                           {"replies", "answers", "replies"},
                           {"hits", "hits", "replies"},
                           {"false hits", "false_hits", "responses"},
                           {"in digest", "digest_entries", "objects"},
                           {"fetched", "fetches", "responses"},
                           {"received", "bytes", "bytes"},
                           {"saved", "bytes_saved", "bytes"}};

std::string text_of(Json const& value, std::string_view unit) {
    if (unit != "ms") return shown(value, unit);
    return value.is_number() ? human_micros(static_cast<std::uint64_t>(std::max(value.get<double>(), 0.0) * 1e3 + 0.5)) : "-";
}

PageTable::Row row(Json const& peer, std::size_t index) {
    PageTable::Row row{index, {}};
    for (auto const& column : columns) {
        auto const& value = at(peer, column.member);
        row.cells.push_back({text_of(value, column.unit), raw_text(value)});
    }
    row.is_trouble = text_at(peer, "state") == "dead";
    return row;
}

/// Dead peers come first.
PageTable peers(Json const& stats) {
    PageTable table{"peers", "Parents and siblings", "No peers are configured.", {}};
    for (auto const& column : columns)
        table.columns.push_back({column.title, std::string("peers.*.") + column.member, std::string_view(column.unit) != "text"});
    table.why = 0;
    table.why_kind = "peer ";
    auto const& list = at(stats, "peers");
    for (std::size_t i = 0; list.is_array() && i < list.size(); ++i) table.rows.push_back(row(list[i], i));
    std::ranges::stable_partition(table.rows, &PageTable::Row::is_trouble);
    return table;
}

}   // namespace mesh_part

PageSection mesh_section(Json const& stats) {
    PageSection section{"mesh", "Origins and peers"};
    section.picture = mesh_picture(stats);
    section.folded = "Counters of origins and of queries between caches";
    section.lines.push_back(lines_of(summary_section(stats, "Origins")));
    if (has_mesh(stats)) section.lines.push_back(lines_of(summary_section(stats, "Mesh")));
    if (has_mesh(stats)) section.lines.back().title = "Queries between caches";
    section.tables.push_back(mesh_part::peers(stats));
    return section;
}

}   // namespace garner::admin
