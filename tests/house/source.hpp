// A source file for the style rules: its text without comments and literals, and its includes.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace garner::house {

/// A breach of a rule: file:line and a description.
struct Breach {
    std::string file;
    std::size_t line = 0;
    std::string what;
};

struct Include {
    std::string path;
    std::size_t line = 0;
    bool quoted = false;   // "module/file.hpp", unlike <header>
};

inline std::size_t line_of(std::string_view text, std::size_t at) {
    return 1 + static_cast<std::size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

inline bool separates_digits(std::string_view text, std::size_t quote) {
    return quote > 0 && std::isxdigit(static_cast<unsigned char>(text[quote - 1]));
}

inline std::size_t end_of_literal(std::string_view text, std::size_t quote) {
    bool const raw = text[quote] == '"' && quote > 0 && text[quote - 1] == 'R';
    if (raw) {
        auto const open = text.find('(', quote);
        if (open == text.npos) return text.size();
        std::string const close = ")" + std::string(text.substr(quote + 1, open - quote - 1)) + "\"";
        auto const end = text.find(close, open);
        return end == text.npos ? text.size() : end + close.size();
    }
    std::size_t at = quote + 1;
    while (at < text.size() && text[at] != text[quote] && text[at] != '\n') at += text[at] == '\\' ? 2 : 1;
    return std::min(at + 1, text.size());
}

/// The text with every comment and literal blanked; lines and columns are kept.
inline std::string code_only(std::string_view text) {
    std::string code(text);
    auto blank = [&](std::size_t from, std::size_t to) {
        for (; from < to && from < code.size(); ++from)
            if (code[from] != '\n') code[from] = ' ';
    };
    std::size_t at = 0;
    while (at < text.size()) {
        auto const rest = text.substr(at);
        auto end = at + 1;
        if (rest.starts_with("//")) {
            end = std::min(text.find('\n', at), text.size());
            blank(at, end);
        } else if (rest.starts_with("/*")) {
            auto const close = text.find("*/", at + 2);
            end = close == text.npos ? text.size() : close + 2;
            blank(at, end);
        } else if (text[at] == '"' || (text[at] == '\'' && !separates_digits(text, at))) {
            end = end_of_literal(text, at);
            blank(at, end);
        }
        at = end;
    }
    return code;
}

inline std::vector<Include> includes(std::string_view text) {
    std::vector<Include> found;
    std::size_t line = 0;
    while (!text.empty()) {
        ++line;
        auto const end = std::min(text.find('\n'), text.size());
        auto row = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));

        auto skip_blanks = [&] { row.remove_prefix(std::min(row.find_first_not_of(" \t"), row.size())); };
        skip_blanks();
        if (!row.starts_with('#')) continue;
        row.remove_prefix(1);
        skip_blanks();
        if (!row.starts_with("include")) continue;
        row.remove_prefix(7);
        skip_blanks();
        if (row.empty() || (row[0] != '"' && row[0] != '<')) continue;
        bool const quoted = row[0] == '"';
        found.push_back({std::string(row.substr(1, row.find(quoted ? '"' : '>', 1) - 1)), line, quoted});
    }
    return found;
}

}   // namespace garner::house
