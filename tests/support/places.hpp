// Files that a test reads or runs, located at run time. A compiled-in
// path would differ between clones and defeat the compiler cache.
#pragma once
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace garner::test {

/// A file built beside this test program, such as "garner".
inline std::string built(std::string_view file) { return std::filesystem::read_symlink("/proc/self/exe").parent_path() / file; }

/// A file or folder of the source tree, which is the nearest parent folder with src/main.cpp. Throws if there is none.
inline std::string source(std::string_view path) {
    for (auto folder = std::filesystem::path(built("")); folder.has_relative_path(); folder = folder.parent_path())
        if (exists(folder / "src/main.cpp")) return folder / path;
    throw std::runtime_error("no source tree above " + built(""));
}

}   // namespace garner::test
