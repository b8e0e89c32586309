// Tables of Markdown documents, for comparison with the program's tables.
#pragma once
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "support/places.hpp"

namespace garner::test {

/// The table rows below a heading ("## Result tags", without its "## ") whose first cell begins with a backquote.
inline std::vector<std::string> documented_rows(std::string_view file, std::string_view heading) {
    std::vector<std::string> rows;
    std::ifstream in(source(file));
    bool below = false;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with("## ")) below = std::string_view(line).substr(3) == heading;
        if (below && line.starts_with("| `")) rows.push_back(line);
    }
    return rows;
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
