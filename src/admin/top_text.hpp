// The output of garner top: health, rates and lists. Pure.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace garner::admin {

struct TopView {
    struct Row {
        std::string kind;                 // "requests", "host"
        std::vector<std::string> cells;   // "12.3 a second"; of a list: name, requests, bytes, reason
    };
    struct List {
        std::string title;
        std::vector<Row> rows;
    };
    std::string title, health;
    std::vector<std::string> problems;
    std::vector<Row> figures;
    std::vector<List> lists;   // those with rows
};

/// Rates need the /stats.json of a moment before; null: there is none yet.
TopView top_view(nlohmann::ordered_json const& before, nlohmann::ordered_json const& now);

/// For a terminal of this size.
std::string top_screen(TopView const&, std::size_t lines, std::size_t width);
/// One figure or row on each line, with tabs between time, kind and cells.
std::string top_lines(TopView const&, std::string_view time);

}   // namespace garner::admin
