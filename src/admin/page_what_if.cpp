// The section with the hit ratios that other policies and sizes of memory would have.
#include <algorithm>
#include <cmath>
#include <map>

#include "admin/human.hpp"
#include "admin/json_members.hpp"
#include "admin/page_sections.hpp"

namespace garner::admin {

namespace what_if_part {

struct Row {
    std::size_t index;   // in what_if.rows
    std::string policy;
    double size, hits, byte_hits;
};

std::vector<Row> rows_of(Json const& stats) {
    std::vector<Row> rows;
    auto const& list = at(stats, "what_if.rows");
    for (std::size_t i = 0; list.is_array() && i < list.size(); ++i) {
        auto const number = [&](char const* member) {
            auto const& value = at(list[i], member);
            return value.is_number() ? value.get<double>() : 0.0;
        };
        rows.push_back({i, text_at(list[i], "policy"), number("size_bytes"), number("object_hit_ratio"), number("byte_hit_ratio")});
    }
    return rows;
}

/// The row of the policy whose size is nearest; nullptr: it is off by more than a tenth.
Row const* nearest(std::vector<Row> const& rows, std::string const& policy, double size) {
    Row const* found = nullptr;
    for (auto const& row : rows)
        if (row.policy == policy && (!found || std::abs(row.size - size) < std::abs(found->size - size))) found = &row;
    return found && std::abs(found->size - size) <= size / 10 ? found : nullptr;
}

std::string size_text(double size) { return human_bytes(static_cast<std::uint64_t>(size)); }

std::string doubling(Row const& present, Row const& doubled) {
    return "With twice the memory (" + size_text(doubled.size) + ") the hit ratio would be " + human_share(doubled.hits) +
           " instead of " + human_share(present.hits) + ", and the byte hit ratio " + human_share(doubled.byte_hits) +
           " instead of " + human_share(present.byte_hits) + ".";
}

std::string best_policy(std::vector<Row> const& rows, Row const& present) {
    auto best = present;
    for (auto const& row : rows)
        if (row.size == present.size && row.hits > best.hits) best = row;
    if (best.policy == present.policy) return "No other policy would have a higher hit ratio with this size.";
    return "The policy " + best.policy + " would have the highest hit ratio with this size: " + human_share(best.hits) + ".";
}

std::vector<std::string> words(Json const& stats, std::vector<Row> const& rows) {
    if (at(stats, "what_if.on") != true) return {"No traffic is sampled: memory.what_if is false."};
    if (rows.empty())
        return {"Too little traffic yet: " + shown(at(stats, "what_if.requests"), "requests") + " of the " +
                shown(at(stats, "what_if.requests_wanted"), "requests") + " requests that an estimate needs."};
    auto const policy = text_at(stats, "what_if.policy");
    auto const size = static_cast<double>(number_at(stats, "cache.capacity_bytes"));
    std::vector<std::string> all{"The policy in use is " + policy + ", with " + size_text(size) + " of memory."};
    auto const* const present = nearest(rows, policy, size);
    auto const* const doubled = nearest(rows, policy, 2 * size);
    if (present && doubled) all.push_back(doubling(*present, *doubled));
    if (present) all.push_back(best_policy(rows, *present));
    auto const [least, most] = std::ranges::minmax(rows, {}, &Row::size);
    all.push_back("The curves are the hit ratios of all policies, from 0 % to 100 %, with " + size_text(least.size) +
                  " of memory at the left to " + size_text(most.size) + " at the right. The thick one is the policy in use.");
    return all;
}

using ByPolicy = std::map<std::string, std::vector<Row>>;   // by rising size

ByPolicy by_policy(std::vector<Row> const& rows) {
    ByPolicy all;
    for (auto const& row : rows) all[row.policy].push_back(row);
    for (auto& [policy, of_policy] : all) std::ranges::sort(of_policy, {}, &Row::size);
    return all;
}

PageLines table(ByPolicy const& all, std::string const& running, std::string const& title, char const* member, double Row::*ratio) {
    PageLines lines{title};
    for (auto const& row : all.begin()->second) lines.columns.push_back(size_text(row.size));
    for (auto const& [policy, rows] : all) {
        PageLines::Line line{policy == running ? policy + " (in use)" : policy, {}};
        for (auto const& row : rows) {
            auto const path = "what_if.rows." + std::to_string(row.index) + "." + member;
            line.figures.push_back({human_share(row.*ratio), path, raw_text(Json(row.*ratio))});
        }
        lines.lines.push_back(std::move(line));
    }
    return lines;
}

std::vector<PageCurve> curves(ByPolicy const& all, std::string const& running) {
    std::vector<PageCurve> curves;
    for (auto const& [policy, rows] : all) {
        std::vector<double> heights;
        for (auto const& row : rows) heights.push_back(row.hits);
        curves.push_back({"curve-what-if-" + policy, policy, path_of(heights, heights.size()), policy == running});
    }
    return curves;
}

}   // namespace what_if_part

PageSection what_if_section(Json const& stats) {
    using namespace what_if_part;
    auto const rows = rows_of(stats);
    PageSection section{"what-if", "Effect of more memory or another policy", words(stats, rows)};
    if (rows.empty()) return section;
    auto const all = by_policy(rows);
    auto const running = text_at(stats, "what_if.policy");
    section.folded = "The figures of the chart";
    section.curves = curves(all, running);
    section.lines.push_back(table(all, running, "Hit ratio by memory", "object_hit_ratio", &Row::hits));
    section.lines.push_back(table(all, running, "Byte hit ratio by memory", "byte_hit_ratio", &Row::byte_hits));
    return section;
}

}   // namespace garner::admin
