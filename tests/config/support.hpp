// What the configuration's tests share.
#pragma once
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "config/load.hpp"
#include "support/places.hpp"

namespace garner::config {

inline std::filesystem::path repository() { return test::source(""); }

inline std::string contents(std::filesystem::path const& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

inline Loaded load(std::string_view text, std::vector<std::string> const& sets = {}) {
    return load_text("test.json", text, sets);
}

/// All faults, a line each.
inline std::string told(Loaded const& loaded) {
    std::string out;
    for (auto const& fault : loaded.faults) out += text_of(fault) + "\n";
    return out;
}

}  // namespace garner::config
