#include "sim/plot_folder.hpp"

#include <fstream>
#include <system_error>

namespace garner::sim {

std::string make_plot_folder(std::filesystem::path const& folder) {
    if (folder.empty()) return {};
    std::error_code fault;
    std::filesystem::create_directories(folder, fault);
    if (fault) return "cannot make " + folder.string() + ": " + fault.message();
    // Nothing is written over before there is something better, and nothing is left behind.
    auto const probe = folder / "garner.new";
    auto trouble = write_plot(probe, "");
    std::filesystem::remove(probe, fault);
    return trouble;
}

std::string write_plot(std::filesystem::path const& file, std::string const& text) {
    std::ofstream out(file, std::ios::binary);
    out << text;
    out.close();
    return out ? "" : "cannot write " + file.string();
}

}  // namespace garner::sim
