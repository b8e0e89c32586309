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
        PageLines::Line line{.name = policy == running ? policy + " (in use)" : policy, .figures = {}, .why = "policy " + policy};
        for (auto const& row : rows) {
            auto const path = "what_if.rows." + std::to_string(row.index) + "." + member;
            line.figures.push_back({human_share(row.*ratio), path, raw_text(Json(row.*ratio))});
        }
        lines.lines.push_back(std::move(line));
    }
    return lines;
}

/// The hit ratios by size, a curve for each policy, and their names in the order of the largest size.
class Chart {
public:
    Chart(ByPolicy const& all, std::vector<Row> const& rows, std::string const& running) : all_(all), running_(running) {
        auto const [least, most] = std::ranges::minmax(rows, {}, &Row::hits);
        low_ = std::floor(least.hits * steps) / steps;
        high_ = std::max(std::ceil(most.hits * steps) / steps, low_ + 2 / steps);
        if (high_ > 1) low_ -= high_ - 1, high_ = 1;
    }

    PagePicture picture() const {
        PagePicture picture{"Hit ratio by memory, a curve for each policy, the one in use thick; the tables below have the figures",
                            width,
                            bottom + 30,
                            {}};
        picture.parts.push_back(axes());
        PagePicture::Part curves;
        for (auto const& [policy, rows] : all_) curves.lines.push_back(curve("curve-what-if-" + policy, policy, rows, ""));
        auto const ours = all_.find(running_);
        if (ours != all_.end()) curves.lines.push_back(curve("curve-what-if-in-use", running_, ours->second, "marked"));
        picture.parts.push_back(std::move(curves));
        picture.parts.push_back(names());
        return picture;
    }

private:
    static constexpr int left = 64, right = 500, top = 12, bottom = 232, width = 752;
    static constexpr double steps = 20;   // the scale begins and ends at a multiple of 5 %

    std::size_t sizes() const { return all_.begin()->second.size(); }
    int x_of(std::size_t i) const {
        return left + static_cast<int>(i * static_cast<std::size_t>(right - left) / std::max<std::size_t>(sizes() - 1, 1));
    }
    int y_of(double ratio) const {
        return bottom - static_cast<int>(std::lround((ratio - low_) / (high_ - low_) * (bottom - top)));
    }

    static std::string point(char letter, int x, int y) { return letter + std::to_string(x) + " " + std::to_string(y); }

    PagePicture::Part axes() const {
        PagePicture::Part part;
        for (int i = 0; i <= 2; ++i) {
            int const y = bottom - i * (bottom - top) / 2;
            part.lines.push_back({"", "", point('M', left, y) + point('L', right, y), "grid"});
            part.texts.push_back(
                {left - 8, y + 4, {human_share(low_ + i * (high_ - low_) / 2)}, "what-if-ratio-" + std::to_string(i), "end"});
        }
        auto const& rows = all_.begin()->second;
        for (std::size_t i = 0; i < rows.size(); ++i)
            part.texts.push_back({x_of(i), bottom + 20, {size_text(rows[i].size)}, "what-if-size-" + std::to_string(i), "middle"});
        return part;
    }

    PageCurve curve(std::string id, std::string title, std::vector<Row> const& rows, char const* kind) const {
        std::string path;
        for (std::size_t i = 0; i < rows.size(); ++i) path += point(i == 0 ? 'M' : 'L', x_of(i), y_of(rows[i].hits));
        return {std::move(id), std::move(title), path, kind};
    }

    /// Curves may end at the same point: each name has a line of its own, and a thin line leads to it.
    PagePicture::Part names() const {
        std::vector<std::pair<double, std::string>> ends;
        for (auto const& [policy, rows] : all_) ends.emplace_back(rows.back().hits, policy);
        std::ranges::stable_sort(ends, std::ranges::greater(), &std::pair<double, std::string>::first);
        int const step = std::min(20, (bottom - top) / std::max(static_cast<int>(ends.size()) - 1, 1));
        PagePicture::Part part;
        for (std::size_t i = 0; i < ends.size(); ++i) {
            auto const& [ratio, policy] = ends[i];
            int const y = top + static_cast<int>(i) * step;
            auto const number = std::to_string(i);
            part.lines.push_back(
                {"curve-what-if-to-" + number, "", point('M', right, y_of(ratio)) + point('L', right + 28, y), "grid"});
            part.texts.push_back({right + 34,
                                  y + 4,
                                  {human_share(ratio) + " " + policy + (policy == running_ ? ", in use" : "")},
                                  "what-if-name-" + number,
                                  ""});
        }
        return part;
    }

    ByPolicy const& all_;
    std::string const& running_;
    double low_ = 0, high_ = 1;
};

}   // namespace what_if_part

PageSection what_if_section(Json const& stats) {
    using namespace what_if_part;
    auto const rows = rows_of(stats);
    PageSection section{"what-if", "Effect of more memory or another policy", words(stats, rows)};
    if (rows.empty()) return section;
    auto const all = by_policy(rows);
    auto const running = text_at(stats, "what_if.policy");
    section.folded = "The figures of the chart";
    section.picture = Chart(all, rows, running).picture();
    section.lines.push_back(table(all, running, "Hit ratio by memory", "object_hit_ratio", &Row::hits));
    section.lines.push_back(table(all, running, "Byte hit ratio by memory", "byte_hit_ratio", &Row::byte_hits));
    return section;
}

}   // namespace garner::admin
