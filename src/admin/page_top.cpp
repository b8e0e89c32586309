// The sections with the hosts, clients and missed URLs that have the most requests.
#include <algorithm>

#include "admin/json_members.hpp"
#include "admin/page_sections.hpp"

namespace garner::admin {

namespace top_part {

constexpr std::size_t rows_max = 10;

struct Kind {
    char const* id;
    char const* title;
    char const* list;
    char const* name;
    bool has_reason;
};

PageTable::Row row(Json const& one, std::size_t index, Kind const& kind) {
    auto const number = [&](char const* member, char const* unit) {
        return PageTable::Cell{shown(at(one, member), unit), raw_text(at(one, member))};
    };
    auto const name = text_at(one, "name");
    PageTable::Row row{index, {{name}, number("requests", "requests")}};
    if (kind.has_reason)
        row.cells.push_back({text_at(one, "reason")});
    else
        row.cells.push_back(number("hits", "requests"));
    row.cells.push_back(number("bytes", "bytes"));
    return row;
}

PageSection section(Json const& stats, Kind const& kind) {
    auto const member = [&](char const* name) { return std::string(kind.list) + ".*." + name; };
    PageTable table{std::string(kind.id) + "-table",
                    "",
                    "No requests in the last minutes.",
                    {{kind.name, member("name"), false}, {"requests", member("requests")}}};
    if (kind.has_reason)
        table.columns.push_back({"reason", member("reason"), false});
    else
        table.columns.push_back({"hits", member("hits")});
    table.columns.push_back({"sent", member("bytes")});
    table.why = 0;
    auto const& rows = at(stats, kind.list);
    for (std::size_t i = 0; rows.is_array() && i < std::min(rows.size(), rows_max); ++i)
        table.rows.push_back(row(rows[i], i, kind));
    PageSection section{kind.id, kind.title};
    section.tables.push_back(std::move(table));
    return section;
}

}   // namespace top_part

PageSection top_hosts_section(Json const& stats) {
    return top_part::section(stats, {"top-hosts", "Hosts with the most requests", "top.hosts", "host", false});
}

PageSection top_clients_section(Json const& stats) {
    return top_part::section(stats, {"top-clients", "Clients with the most requests", "top.clients", "client", false});
}

PageSection top_misses_section(Json const& stats) {
    return top_part::section(stats, {"top-misses", "URLs with the most misses", "top.misses", "URL", true});
}

}   // namespace garner::admin
