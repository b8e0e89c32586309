// Pictures of results: miss ratio against cache size.
#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "sim/chart.hpp"
#include "sim/result.hpp"

namespace garner::sim {

/// One line a policy, in the order they first appear; the offline references (sim/offline.hpp) grey. In percent.
Chart object_miss_chart(std::string_view trace, std::span<Result const>);
Chart byte_miss_chart(std::string_view trace, std::span<Result const>);

/// Writes object_miss_ratio.svg and byte_miss_ratio.svg into the directory (see make_plot_folder). Returns what
/// went wrong in one line, else nothing.
std::string write_plots(std::filesystem::path const& directory, std::string_view trace, std::span<Result const>);

}  // namespace garner::sim
