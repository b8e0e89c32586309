#include "sim/sim_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/text_table.hpp"
#include "util/numbers.hpp"

namespace garner::sim {
namespace {

std::string percent(double ratio) { return with_decimals(ratio * 100, 2) + " %"; }

std::string speed(double per_second) {
    if (per_second <= 0) return "-";
    if (per_second < 1e4) return with_decimals(per_second, 0);
    return per_second < 1e6 ? with_decimals(per_second / 1e3, 1) + " k" : with_decimals(per_second / 1e6, 2) + " M";
}

std::vector<std::string> row_of(Result const& result) {
    auto metadata = result.metadata > 0 ? with_decimals(result.metadata_per_object(), 1) : "-";
    // clang-format off
    return {short_size(result.size),           result.policy,
            percent(result.object_miss_ratio()), percent(result.byte_miss_ratio()),
            speed(result.requests_per_second()), metadata};
    // clang-format on
}

}   // namespace

std::string table(std::span<Result const> results) {
    std::vector<Bytes> sizes;
    for (auto const& result : results)
        if (std::ranges::find(sizes, result.size) == sizes.end()) sizes.push_back(result.size);
    std::vector<std::vector<std::string>> rows{
        {"size", "policy", "object misses", "byte misses", "requests/s", "metadata B/object"}};
    for (auto size : sizes) {
        if (size != sizes.front()) rows.emplace_back();
        for (auto const& result : results)
            if (result.size == size) rows.push_back(row_of(result));
    }
    return text_table(rows);
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

}   // namespace garner::sim
