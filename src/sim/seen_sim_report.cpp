#include "sim/seen_sim_report.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include <nlohmann/json.hpp>

#include "crawl/seen_caches.hpp"
#include "sim/chart.hpp"
#include "sim/plot_folder.hpp"
#include "util/numbers.hpp"

namespace garner::sim {
namespace {

constexpr std::size_t seen_columns = 8;
using SeenRow = std::array<std::string, seen_columns>;

std::string entries_text(std::uint64_t entries) {
    if (entries < 2 || !std::has_single_bit(entries)) return std::to_string(entries);
    return "2^" + std::to_string(std::countr_zero(entries));
}

SeenRow row_of(SeenResult const& result) {
    return {entries_text(result.entries),
            result.cache,
            std::to_string(result.misses),
            with_decimals(result.miss_ratio() * 100, 2) + " %",
            std::to_string(result.false_positives),
            std::to_string(result.false_negatives),
            with_decimals(result.nanoseconds(), 1),
            with_decimals(result.bits_per_entry, 1)};
}

/// The cache's name begins its column, all others are numbers and end theirs.
std::string aligned(SeenRow const& row, std::array<std::size_t, seen_columns> const& widths) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
        std::string const blanks(widths[i] - std::min(widths[i], row[i].size()), ' ');
        line += (i ? "  " : "") + (i == 1 ? row[i] + blanks : blanks + row[i]);
    }
    return line + "\n";
}

std::string csv(Chart const& chart, std::string_view y_name) {
    std::string text = "policy,entries," + std::string(y_name) + "\n";
    for (auto const& series : chart.series)
        for (auto const& point : series.points)
            text += "\"" + series.name + "\"," + with_decimals(point.x, 0) + "," + with_decimals(point.y, 6) + "\n";
    return text;
}

void add_point(Chart& chart, SeenResult const& result, double y) {
    auto line = std::ranges::find(chart.series, result.cache, &Series::name);
    if (line == chart.series.end()) {
        auto const* row = crawl::read_cache_spec(result.cache).row;
        bool const reference = row->foresees || row->name == "infinite";
        line = chart.series.insert(line, {result.cache, {}, reference});
    }
    line->points.push_back({static_cast<double>(result.entries), y});
}

Chart empty_chart(std::string_view stream, std::string_view what, std::string y_title) {
    return {.title = std::string(stream) + ": " + std::string(what),
            .x_title = "cache size (entries)",
            .y_title = std::move(y_title),
            .x_scale = Scale::counts,
            .series = {}};
}

}  // namespace

std::string seen_table(std::span<SeenResult const> results) {
    SeenRow const heading{"entries", "policy", "misses", "miss ratio", "false +", "false -", "ns/operation", "bits/entry"};
    std::array<std::size_t, seen_columns> widths{};
    auto widen = [&](SeenRow const& row) {
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    };
    widen(heading);
    for (auto const& result : results) widen(row_of(result));

    std::string text = aligned(heading, widths);
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (i > 0 && results[i].entries != results[i - 1].entries) text += '\n';
        text += aligned(row_of(results[i]), widths);
    }
    return text;
}

std::string seen_json_line(SeenResult const& result) {
    using Json = nlohmann::ordered_json;
    Json const line{
        {"policy", result.cache},
        {"entries", result.entries},
        {"requests", result.requests},
        {"misses", result.misses},
        {"miss_ratio", result.miss_ratio()},
        {"false_positives", result.false_positives},
        {"false_negatives", result.false_negatives},
        {"ns_per_operation", result.nanoseconds()},
        {"bits_per_entry", result.bits_per_entry},
    };
    return line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string write_seen_plots(std::filesystem::path const& directory, std::string_view stream,
                             std::span<SeenResult const> results) {
    auto misses = empty_chart(stream, "misses by cache size", "miss ratio (%)");
    auto relative = empty_chart(stream, "misses against MIN's by cache size", "misses (MIN = 1)");
    for (auto const& result : results) {
        add_point(misses, result, result.miss_ratio() * 100);
        auto const min = std::ranges::find_if(results, [&](SeenResult const& other) {
            return other.cache == "min" && other.entries == result.entries;
        });
        if (min != results.end() && min->misses > 0) add_point(relative, result, result.miss_ratio() / min->miss_ratio());
    }
    auto write_both = [&](Chart const& chart, char const* name, char const* y_name) {
        auto trouble = write_plot(directory / (std::string(name) + ".svg"), svg(chart));
        return trouble.empty() ? write_plot(directory / (std::string(name) + ".csv"), csv(chart, y_name)) : trouble;
    };
    auto trouble = write_both(misses, "miss_ratio", "miss_percent");
    if (!trouble.empty() || relative.series.empty()) return trouble;
    return write_both(relative, "relative_miss_ratio", "misses_of_min");
}

}  // namespace garner::sim
