// The section with origins, parents, siblings, and the caches that query this one.
#include <algorithm>

#include "admin/page_columns.hpp"

namespace garner::admin {

namespace mesh_part {

constexpr PageColumn columns[]{{"name", "name", "text"},
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

/// Dead peers come first.
PageTable peers(Json const& stats) {
    PageTable table{"peers", "Parents and siblings", "No peers are configured.", {}};
    table.why = 0;
    table.why_kind = "peer ";
    auto const& list = at(stats, "peers");
    table = with_rows(std::move(table), list, "peers", columns, list.size());
    for (auto& row : table.rows) row.is_trouble = text_at(list[row.index], "state") == "dead";
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
