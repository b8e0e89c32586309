// Tests that a document names: each `Suite.name` must exist.
#pragma once

#include "house/source.hpp"

#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace garner::house {

/// Collects every test that the macros of a source file define, as Suite.name.
inline void collect_tests(std::string const& text, std::set<std::string>& names) {
    static std::regex const macro(R"(\b(?:TEST|TEST_F|TEST_P|TYPED_TEST)\(\s*(\w+)\s*,\s*(\w+)\s*\))");
    auto const code = code_only(text);
    for (std::sregex_iterator found(code.begin(), code.end(), macro), end; found != end; ++found)
        names.insert((*found)[1].str() + "." + (*found)[2].str());
}

/// One breach for each `Suite.name` in backticks that is not in `tests`.
/// Names without a leading capital, such as `memory.size`, are not tests.
inline std::vector<Breach> breaches_of_named_tests(std::string const& file, std::string const& text,
                                                   std::set<std::string> const& tests) {
    static std::regex const name(R"(`([A-Z]\w*\.\w+)`)");
    std::vector<Breach> breaches;
    for (std::sregex_iterator found(text.begin(), text.end(), name), end; found != end; ++found)
        if (auto const test = (*found)[1].str(); !tests.contains(test))
            breaches.push_back({file, line_of(text, static_cast<std::size_t>(found->position())),
                                "names a test that does not exist: " + test + " (renamed? removed?)"});
    return breaches;
}

}   // namespace garner::house
