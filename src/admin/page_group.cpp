// The section with the group that shares invalidations.
#include <span>

#include "admin/page_columns.hpp"

namespace garner::admin {

namespace group_part {

constexpr PageColumn of_voters[]{{"voter", "address", "text"},
                                 {"instance", "instance", "text"},
                                 {"lease left", "lease_left_seconds", "short time"},
                                 {"sequence", "sequence", "invalidations"},
                                 {"trouble", "trouble", "text"}};
constexpr PageColumn of_members[]{{"member", "name", "text"},
                                  {"proxy", "address", "text"},
                                  {"acknowledged", "acknowledged", "invalidations"},
                                  {"lag", "lag", "invalidations"},
                                  {"last heard", "heard_seconds_ago", "short time"}};

constexpr PageColumn of_offers[]{
    {"object", "url", "text"}, {"size", "bytes", "bytes"}, {"state", "state", "text"}, {"ends in", "left_seconds", "seconds"}};
constexpr PageColumn of_watermarks[]{{"time", "at", "text"}, {"reason", "reason", "text"}};

/// The first column has the name.
PageTable table(Json const& list, std::string const& path, PageTable table, std::span<PageColumn const> columns) {
    table.why = 0;
    return with_rows(std::move(table), list, path, columns, 50);
}

PageLines lines(Json const& stats) {
    PageLines lines{"This member"};
    auto const add = [&](char const* name, char const* path, char const* unit) {
        lines.lines.push_back({name, {figure_at(stats, path, unit)}, false, why_of_figure(path)});
    };
    add("state", "group.state", "text");
    add("while cut off", "group.while_cut_off", "text");
    add("in this state since", "group.since", "text");
    add("cause of the cut-off", "group.why", "text");
    add("lease left", "group.lease_left_seconds", "short time");
    add("accepted", "group.submissions.accepted", "invalidations");
    add("not accepted", "group.submissions.not accepted", "invalidations");
    add("watermarks", "group.watermarks", "watermarks");
    add("replicated from members", "group.replicated_bytes.parent", "bytes");
    add("replicated from origins", "group.replicated_bytes.origin", "bytes");
    bool const is_cut_off = text_at(stats, "group.state") == "cut off";
    lines.lines[0].is_trouble = is_cut_off;
    lines.lines[1].is_trouble = is_cut_off && text_at(stats, "group.while_cut_off") == "serve";
    return lines;
}

}   // namespace group_part

PageSection group_section(Json const& stats) {
    if (text_at(stats, "group.state").empty()) return {};
    PageSection section{"group", "Group"};
    section.lines.push_back(group_part::lines(stats));
    PageTable voters{.id = "group-voters", .title = "Voters", .none = "There are no voters.", .columns = {}, .why_kind = "voter "};
    section.tables.push_back(group_part::table(at(stats, "group.voters"), "group.voters", voters, group_part::of_voters));
    PageTable known{.id = "group-members",
                    .title = "Members, as this voter knows them",
                    .none = "No member is connected.",
                    .columns = {},
                    .why_kind = "member "};
    if (auto const& members = at(stats, "group.members"); members.is_array() && !members.empty())
        section.tables.push_back(group_part::table(members, "group.members", known, group_part::of_members));
    PageTable offers{
        .id = "group-offers", .title = "Offered objects", .none = "No object is offered.", .columns = {}, .why_kind = {}};
    if (auto const& all = at(stats, "group.offers"); all.is_array() && !all.empty())
        section.tables.push_back(group_part::table(all, "group.offers", offers, group_part::of_offers));
    PageTable watermarks{.id = "group-watermarks",
                         .title = "Last watermarks",
                         .none = "No watermark was set.",
                         .columns = {},
                         .why_kind = "watermark "};
    section.tables.push_back(
        group_part::table(at(stats, "group.last_watermarks"), "group.last_watermarks", watermarks, group_part::of_watermarks));
    return section;
}

}   // namespace garner::admin
