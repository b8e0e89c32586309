// Shared parts of the configuration tests.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
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

/// Compares the file with the text generated from the program's tables; GARNER_WRITE=1 in the environment writes the file instead.
inline void expect_made(char const* file, std::string const& text, char const* tests) {
    auto const path = repository() / file;
    if (std::getenv("GARNER_WRITE")) std::ofstream(path, std::ios::binary) << text;
    EXPECT_TRUE(contents(path) == text) << file << " is not up to date. Write it again with:\n"
                                        << "  GARNER_WRITE=1 build/asan/config_test --gtest_filter='" << tests << "'";
}

inline Loaded load(std::string_view text, std::vector<std::string> const& sets = {}) { return load_text("test.json", text, sets); }

/// All errors, one per line.
inline std::string told(Loaded const& loaded) {
    std::string out;
    for (auto const& fault : loaded.faults) out += text_of(fault) + "\n";
    return out;
}

}   // namespace garner::config
