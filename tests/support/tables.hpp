// Tables of Markdown documents, for comparison with the program's tables.
#pragma once
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "support/places.hpp"

namespace garner::test {

/// True for a table row whose first cell begins with a backquote, or is empty before a second one that does.
inline bool is_row(std::string_view line) { return line.starts_with("| `") || line.starts_with("| | `"); }

/// The table rows below a heading ("## Result tags", without its "## ").
inline std::vector<std::string> documented_rows(std::string_view file, std::string_view heading) {
    std::vector<std::string> rows;
    std::ifstream in(source(file));
    bool below = false;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with("## ")) below = std::string_view(line).substr(3) == heading;
        if (below && is_row(line)) rows.push_back(line);
    }
    return rows;
}

/// Compares these rows with those below a heading. Returns the difference in words; empty: there is none. With GARNER_WRITE=1 in
/// the environment it writes other rows to the file instead.
inline std::string difference_of_rows(std::string_view file, std::string_view heading, std::string const& rows,
                                      std::string_view tests) {
    std::string documented, text;
    std::ifstream in(source(file));
    bool below = false;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with("## ")) below = std::string_view(line).substr(3) == heading;
        bool const replaced = below && is_row(line);
        if (!replaced) text += line + "\n";
        if (replaced && documented.empty()) text += rows;
        if (replaced) documented += line + "\n";
    }
    auto const table = "the table below \"" + std::string(heading) + "\" in " + std::string(file);
    if (documented.empty()) return table + " is missing";
    if (documented == rows) return {};
    if (!std::getenv("GARNER_WRITE"))
        return table + " is not up to date. Write it again with:\n  GARNER_WRITE=1 build/asan/admin_test --gtest_filter='" +
               std::string(tests) + "'";
    std::ofstream(source(file), std::ios::binary) << text;
    return {};
}

/// The names in backquotes in the first cells of these rows.
inline std::multiset<std::string> documented_names(std::string_view file, std::string_view heading) {
    std::multiset<std::string> names;
    for (auto const& row : documented_rows(file, heading)) {
        auto const cell = row.substr(0, row.find(" | "));
        for (auto at = cell.find('`'); at != cell.npos; at = cell.find('`', at)) {
            auto const end = cell.find('`', at + 1);
            if (end == cell.npos) break;
            names.insert(cell.substr(at + 1, end - at - 1));
            at = end + 1;
        }
    }
    return names;
}

}   // namespace garner::test
