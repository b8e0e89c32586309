// Links in documents: each relative one leads to an existing file and heading.
#pragma once

#include "house/source.hpp"

#include <cctype>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace garner::house {

/// The text of a Markdown document without code blocks; line numbers are kept.
inline std::string prose_only(std::string_view text) {
    std::string prose;
    bool inside = false;
    while (!text.empty()) {
        auto const row = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(row.size() + 1, text.size()));
        bool const fence = row.starts_with("```");
        if (!fence && !inside) prose += row;
        prose += '\n';
        if (fence) inside = !inside;
    }
    return prose;
}

/// The anchors that GitHub gives to the headings of a document.
inline std::set<std::string> anchors_of(std::string_view text) {
    static std::regex const heading(R"(\n#{1,6} +([^\n]*))"), link(R"(\[([^\]]*)\]\([^)]*\))");
    std::set<std::string> anchors;
    std::map<std::string, int> times;
    auto const prose = "\n" + prose_only(text);
    for (std::sregex_iterator found(prose.begin(), prose.end(), heading), end; found != end; ++found) {
        std::string anchor;
        for (char const c : std::regex_replace((*found)[1].str(), link, "$1")) {
            auto const byte = static_cast<unsigned char>(c);
            if (c == ' ')
                anchor += '-';
            else if (std::isalnum(byte) || c == '-' || c == '_' || byte >= 0x80)
                anchor += static_cast<char>(std::tolower(byte));
        }
        auto const before = times[anchor]++;
        anchors.insert(before == 0 ? anchor : anchor + "-" + std::to_string(before));
    }
    return anchors;
}

struct Link {
    std::string file;   // relative to the document; empty: the document itself
    std::string anchor;
    std::size_t line = 0;
};

/// The relative links of a document.
inline std::vector<Link> relative_links(std::string_view text) {
    static std::regex const link(R"(\]\(([^()\s#]*)(?:#([^()\s]*))?\))"), code("`[^`\n]*`");
    std::vector<Link> links;
    auto const prose = std::regex_replace(prose_only(text), code, "");
    for (std::sregex_iterator found(prose.begin(), prose.end(), link), end; found != end; ++found)
        if ((*found)[1].str().find(':') == std::string::npos)
            links.push_back({(*found)[1], (*found)[2], line_of(prose, static_cast<std::size_t>(found->position()))});
    return links;
}

}   // namespace garner::house
