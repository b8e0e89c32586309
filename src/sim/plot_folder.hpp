// The folder that pictures and tables of results are written into.
#pragma once
#include <filesystem>
#include <string>

namespace garner::sim {

/// Makes it where it is not there, and tries to write into it: before runs that may take hours. What went wrong in one
/// line, else nothing; nothing for "".
std::string make_plot_folder(std::filesystem::path const& folder);

/// What went wrong in one line, else nothing.
std::string write_plot(std::filesystem::path const& file, std::string const& text);

}  // namespace garner::sim
