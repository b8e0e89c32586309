#include "seen_commands/seen_sim_report.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include <nlohmann/json.hpp>

#include "util/numbers.hpp"

namespace garner::seen_commands {
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

}  // namespace garner::seen_commands
