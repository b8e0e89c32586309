// The section with what happens now, each figure with its last ten minutes.
#include <algorithm>
#include <cmath>

#include "admin/history.hpp"
#include "admin/human.hpp"
#include "admin/json_members.hpp"
#include "admin/page_sections.hpp"
#include "util/numbers.hpp"

namespace garner::admin {

namespace now_part {

constexpr std::size_t minutes = 10;

/// A figure of the section with the history that belongs to it.
struct Row {
    char const* title;
    char const* stat;
    char const* unit;
    struct Note {
        char const* title;
        char const* stat;
    };
    Note notes[2];
    char const* series;
    char const* series_title;
    char const* series_unit;
};

/// A new figure needs a row here.
constexpr Row rows[]{
    {"Requests a second",
     "latest.requests",
     "a second",
     {{"all", "requests.total"}, {"refused", "requests.refused"}},
     "requests",
     "requests a second",
     "a second"},
    {"Hit ratio, 5 min",
     "hit_ratio.5m",
     "0 to 1",
     {{"60 s", "hit_ratio.60s"}, {"1 h", "hit_ratio.1h"}},
     "hit_ratio",
     "hit ratio",
     "0 to 1"},
    {"Byte hit ratio, 5 min",
     "byte_hit_ratio.5m",
     "0 to 1",
     {{"60 s", "byte_hit_ratio.60s"}, {"1 h", "byte_hit_ratio.1h"}},
     "byte_hit_ratio",
     "byte hit ratio",
     "0 to 1"},
    {"Bytes saved",
     "client.hit_body_bytes",
     "bytes",
     {{"bodies sent", "client.body_bytes"}, {"from origins", "origin.received_bytes"}},
     "hit_body_bytes",
     "saved a second",
     "bytes"},
    {"Hits take, 5 min",
     "latency.hit.5m.p50_us",
     "µs",
     {{"p90", "latency.hit.5m.p90_us"}, {"p99", "latency.hit.5m.p99_us"}},
     "hit_p50_us",
     "hit p50",
     "µs"},
    {"Misses take, 5 min",
     "latency.miss.5m.p50_us",
     "µs",
     {{"p90", "latency.miss.5m.p90_us"}, {"p99", "latency.miss.5m.p99_us"}},
     "miss_p50_us",
     "miss p50",
     "µs"},
    {"Connections",
     "connections.now",
     "connections",
     {{"at most", "connections.limit"}, {"since the start", "connections.total"}},
     "connections",
     "connections",
     "connections"},
    {"Memory used",
     "cache.used_bytes",
     "bytes",
     {{"of", "cache.capacity_bytes"}, {"objects", "cache.objects"}},
     "memory_bytes",
     "memory",
     "bytes"},
};

std::string_view unit_of_note(Row const& row, char const* stat) {
    return std::string_view(stat) == "cache.objects" ? "objects" : row.unit;
}

/// History has fractions also of bytes.
std::string text_of(Json const& value, std::string_view unit) {
    if (!value.is_number()) return "-";
    auto const number = value.get<double>();
    auto const whole = static_cast<std::uint64_t>(std::max(number, 0.0) + 0.5);
    if (unit == "bytes") return human_bytes(whole);
    if (unit == "µs") return human_micros(whole);
    if (unit == "0 to 1") return human_share(number);
    return unit == "connections" ? human_count(whole) : with_decimals(number, 2);
}

/// Ratios from 0 to 1, others up to the highest value.
PageCurve curve(Json const& stats, Row const& row) {
    std::vector<double> heights;
    for (auto const& value : at(stats, std::string("history.") + row.series + ".5s"))
        heights.push_back(value.is_number() ? std::max(value.get<double>(), 0.0) : -1);
    auto const highest = heights.empty() ? 0.0 : std::ranges::max(heights);
    auto const whole = std::string_view(row.series_unit) == "0 to 1" ? 1.0 : highest;
    for (auto& height : heights)
        if (height > 0) height /= whole;
    return {std::string("curve-") + row.series, std::string(row.title) + ", last ten minutes",
            path_of(heights, History::fine_most)};
}

PageTile tile(Json const& stats, Row const& row) {
    PageTile tile{row.title, figure_at(stats, row.stat, row.unit)};
    for (auto const& note : row.notes)
        tile.notes.push_back({note.title, figure_at(stats, note.stat, unit_of_note(row, note.stat))});
    tile.curves.push_back(curve(stats, row));
    return tile;
}

/// The minute that `back` rows follow.
PageTable::Row minute(Json const& stats, std::size_t index, std::size_t back) {
    PageTable::Row line{index, {{back == 0 ? "last minute" : std::to_string(back) + " min before"}}};
    for (auto const& row : rows) {
        auto const& value = at(stats, std::string("history.") + row.series + ".1m." + std::to_string(index));
        line.cells.push_back({text_of(value, row.series_unit), raw_text(value)});
    }
    return line;
}

PageTable table(Json const& stats) {
    PageTable table{"history", "Last ten minutes", "No minute is over yet.", {{"minute", "", false}}};
    for (auto const& row : rows) table.columns.push_back({row.series_title, std::string("history.") + row.series + ".1m.*"});
    auto const count = at(stats, std::string("history.") + rows[0].series + ".1m").size();
    for (std::size_t back = 0; back < std::min(count, minutes); ++back) table.rows.push_back(minute(stats, count - 1 - back, back));
    return table;
}

}   // namespace now_part

PageSection now_section(Json const& stats) {
    PageSection section{"now", "Now", {"The curves show the last ten minutes."}};
    for (auto const& row : now_part::rows) section.tiles.push_back(now_part::tile(stats, row));
    section.tables.push_back(now_part::table(stats));
    return section;
}

}   // namespace garner::admin
