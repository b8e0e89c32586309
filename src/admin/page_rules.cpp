// The section with the access rules: their hits, and those that can decide no request.
#include <algorithm>

#include "admin/human.hpp"
#include "admin/json_members.hpp"
#include "admin/page_sections.hpp"

namespace garner::admin {

namespace rules_part {

constexpr std::size_t rows_max = 100;

bool is_dead(Json const& rule) { return is(rule, "dead"); }

std::string note(Json const& rule) {
    if (is_dead(rule)) return "decides no request: " + text_at(rule, "why");
    return number_at(rule, "hits") == 0 ? "no hit yet" : "";
}

PageTable::Row row(Json const& rule, std::size_t index) {
    return {index,
            {{text_at(rule, "rule")}, {shown(at(rule, "hits"), "requests"), raw_text(at(rule, "hits"))}, {note(rule)}},
            is_dead(rule)};
}

/// All in their order. If there are too many: the dead ones and those with the most hits.
std::vector<std::size_t> chosen(Json const& rules) {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; rules.is_array() && i < rules.size(); ++i) all.push_back(i);
    if (all.size() <= rows_max) return all;
    auto const key = [&](std::size_t i) { return std::pair(!is_dead(rules[i]), -number_at(rules[i], "hits")); };
    std::ranges::stable_sort(all, {}, key);
    all.resize(rows_max);
    return all;
}

}   // namespace rules_part

PageSection rules_section(Json const& stats) {
    auto const& rules = at(stats, "rules");
    PageTable table{"rules-table",
                    "",
                    "No access rules are configured: clients on this machine are served.",
                    {{"rule", "rules.*.rule", false}, {"hits", "rules.*.hits"}, {"note", "", false}}};
    table.why = 0;
    table.why_kind = "rule ";
    for (auto const i : rules_part::chosen(rules)) table.rows.push_back(rules_part::row(rules[i], i));
    PageSection section{"rules", "Access rules"};
    if (rules.size() > rules_part::rows_max)
        section.words = {human_count(rules_part::rows_max) + " of " + human_count(rules.size()) +
                         " rules: those that decide no request, then those with the most hits."};
    section.tables.push_back(std::move(table));
    return section;
}

}   // namespace garner::admin
