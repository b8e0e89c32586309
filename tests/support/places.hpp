// The files that a test reads or runs, found when it runs. A path compiled in would differ in each clone, and the compiler
// cache would miss.
#pragma once
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace garner::test {

/// A file that was built beside this program, such as "garner".
inline std::string built(std::string_view file) { return std::filesystem::read_symlink("/proc/self/exe").parent_path() / file; }

/// A file or folder of the source tree: the nearest folder above this program that has src/main.cpp. Throws if there is none.
inline std::string source(std::string_view path) {
    for (auto folder = std::filesystem::path(built("")); folder.has_relative_path(); folder = folder.parent_path())
        if (exists(folder / "src/main.cpp")) return folder / path;
    throw std::runtime_error("no source tree above " + built(""));
}

}   // namespace garner::test
