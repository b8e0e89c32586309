// Columns of text for reports.
#pragma once
#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace garner::sim {

/// One line for each row; an empty row is a blank line. The second column is left-aligned; all others contain numbers and
/// are right-aligned.
inline std::string text_table(std::span<std::vector<std::string> const> rows) {
    std::vector<std::size_t> widths;
    for (auto const& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    std::string text;
    for (auto const& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            std::string const blanks(widths[i] - row[i].size(), ' ');
            text += (i ? "  " : "") + (i == 1 ? row[i] + blanks : blanks + row[i]);
        }
        text += '\n';
    }
    return text;
}

}   // namespace garner::sim
