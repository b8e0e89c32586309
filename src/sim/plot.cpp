#include "sim/plot.hpp"

#include <algorithm>

#include "sim/offline.hpp"
#include "sim/plot_folder.hpp"

namespace garner::sim {
namespace {

using Ratio = double (Result::*)() const;

Chart miss_chart(std::string_view trace, std::span<Result const> results, std::string_view what, Ratio ratio) {
    Chart chart;
    chart.title = std::string(trace) + ": " + std::string(what) + " misses by cache size";
    chart.x_title = "cache size (bytes)";
    chart.y_title = std::string(what) + " miss ratio (%)";
    chart.x_scale = Scale::bytes;
    for (auto const& result : results) {
        auto line = std::find_if(chart.series.begin(), chart.series.end(),
                                 [&](Series const& series) { return series.name == result.policy; });
        if (line == chart.series.end())
            line = chart.series.insert(line, {result.policy, {}, find_reference(result.policy) != nullptr});
        line->points.push_back({static_cast<double>(result.size), (result.*ratio)() * 100});
    }
    return chart;
}

}  // namespace

Chart object_miss_chart(std::string_view trace, std::span<Result const> results) {
    return miss_chart(trace, results, "object", &Result::object_miss_ratio);
}

Chart byte_miss_chart(std::string_view trace, std::span<Result const> results) {
    return miss_chart(trace, results, "byte", &Result::byte_miss_ratio);
}

std::string write_plots(std::filesystem::path const& directory, std::string_view trace,
                        std::span<Result const> results) {
    auto objects = write_plot(directory / "object_miss_ratio.svg", svg(object_miss_chart(trace, results)));
    if (!objects.empty()) return objects;
    return write_plot(directory / "byte_miss_ratio.svg", svg(byte_miss_chart(trace, results)));
}

}  // namespace garner::sim
