#include "sim/report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <nlohmann/json.hpp>

#include "util/numbers.hpp"

namespace garner::sim {
namespace {

using Row = std::array<std::string, 6>;

std::string percent(double ratio) { return with_decimals(ratio * 100, 2) + " %"; }

std::string speed(double per_second) {
    if (per_second <= 0) return "-";
    if (per_second < 1e4) return with_decimals(per_second, 0);
    return per_second < 1e6 ? with_decimals(per_second / 1e3, 1) + " k" : with_decimals(per_second / 1e6, 2) + " M";
}

Row row_of(Result const& result) {
    auto metadata = result.metadata > 0 ? with_decimals(result.metadata_per_object(), 1) : "-";
    return {short_size(result.size),           result.policy,
            percent(result.object_miss_ratio()), percent(result.byte_miss_ratio()),
            speed(result.requests_per_second()), metadata};
}

/// The policy's name begins its column, all others are numbers and end theirs.
std::string aligned(Row const& row, std::array<std::size_t, 6> const& widths) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
        std::string blanks(widths[i] - std::min(widths[i], row[i].size()), ' ');
        line += (i ? "  " : "") + (i == 1 ? row[i] + blanks : blanks + row[i]);
    }
    return line + "\n";
}

}  // namespace

std::string table(std::span<Result const> results) {
    std::vector<Bytes> sizes;
    for (auto const& result : results)
        if (std::find(sizes.begin(), sizes.end(), result.size) == sizes.end()) sizes.push_back(result.size);

    Row const heading{"size", "policy", "object misses", "byte misses", "requests/s", "metadata B/object"};
    std::array<std::size_t, 6> widths{};
    auto widen = [&](Row const& row) {
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    };
    widen(heading);
    for (auto const& result : results) widen(row_of(result));

    std::string text = aligned(heading, widths);
    for (auto size : sizes) {
        if (size != sizes.front()) text += '\n';
        for (auto const& result : results)
            if (result.size == size) text += aligned(row_of(result), widths);
    }
    return text;
}

std::string json_line(Result const& result) {
    using Json = nlohmann::ordered_json;
    bool const whole = result.misses == std::floor(result.misses) && std::abs(result.misses) < 0x1p53;
    Json line{
        {"policy", result.policy},
        {"size_bytes", result.size},
        {"requests", result.requests},
        {"misses", whole ? Json(static_cast<std::int64_t>(result.misses)) : Json(result.misses)},
        {"object_miss_ratio", result.object_miss_ratio()},
        {"byte_miss_ratio", result.byte_miss_ratio()},
        {"requests_per_second", result.requests_per_second()},
        {"metadata_bytes_per_object", result.metadata_per_object()},
    };
    return line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string short_size(Bytes size) {
    static constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    std::size_t unit = 0;
    auto value = static_cast<double>(size);
    for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
    return with_decimals(value, value == std::floor(value) ? 0 : 1) + " " + units[unit];
}

}  // namespace garner::sim
