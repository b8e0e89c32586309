#include "import/words.hpp"

#include "import/lines.hpp"

namespace garner::importing {
namespace {

bool is_white(char c) { return white_space.find(c) != white_space.npos; }

/// The next word and the rest behind it; empty at the end or at a comment.
std::string next_word(std::string_view& text, Values kind) {
    text.remove_prefix(std::min(text.find_first_not_of(white_space), text.size()));
    if (text.starts_with('#')) text = {};
    std::size_t end = 0;
    while (end < text.size() && !is_white(text[end])) {
        bool const escapes = kind == Values::expressions && text[end] == '\\' && end + 1 < text.size();
        end += escapes ? 2 : 1;
    }
    std::string word(text.substr(0, end));
    text.remove_prefix(end);
    return word;
}

/// A value in quotes; within them a backslash keeps the next character.
std::string next_quoted(std::string_view& text) {
    char const quote = text.front();
    std::string value;
    std::size_t at = 1;
    for (; at < text.size() && text[at] != quote; ++at) {
        if (text[at] == '\\' && at + 1 < text.size()) ++at;
        value += text[at];
    }
    text.remove_prefix(std::min(at + 1, text.size()));
    return value;
}

/// A value in each line, without comments.
void append_lines(std::string_view text, std::vector<std::string>& values) {
    while (!text.empty()) {
        auto const end = text.find('\n');
        auto line = text.substr(0, end);
        text.remove_prefix(end == text.npos ? text.size() : end + 1);
        line = line.substr(0, line.find('\0'));
        for (auto at = line.find('#'); at != line.npos; at = line.find('#', at + 1))
            if (at == 0 || is_white(line[at - 1])) line = line.substr(0, at);
        if (auto value = trimmed(line); !value.empty()) values.push_back(std::move(value));
    }
}

/// Garner does not end a line at NUL, and its other white space is \t, \r and the space.
bool has_lines_of_garner(std::string_view text) { return text.find_first_of(std::string_view("\0\v\f", 3)) == text.npos; }

/// True if Garner finds the same values in the file.
bool append_file(std::string const& path, Files const& files, ValueList& list) {
    auto const text = files.read(path);
    if (text)
        append_lines(*text, list.values);
    else
        list.trouble = "the file " + printable(path) + " cannot be read: " + text.fault().what;
    return text && has_lines_of_garner(*text);
}

/// With configuration_includes_quoted_values.
ValueList quoted_values(std::string_view text, Files const& files) {
    constexpr std::string_view from_file = "parameters(";
    ValueList list;
    for (;;) {
        text.remove_prefix(std::min(text.find_first_not_of(white_space), text.size()));
        if (text.empty() || text.starts_with('#')) return list;
        bool const is_file = text.starts_with(from_file);
        if (is_file) text.remove_prefix(from_file.size());
        bool const quoted = text.starts_with('"') || text.starts_with('\'');
        auto value = quoted ? next_quoted(text) : next_word(text, Values::words);
        if (!is_file) {
            list.values.push_back(std::move(value));
            continue;
        }
        if (value.ends_with(')')) value.pop_back();
        if (text.starts_with(')')) text.remove_prefix(1);
        append_file(value, files, list);
    }
}

}   // namespace

std::string trimmed(std::string_view text) {
    auto const first = text.find_first_not_of(white_space);
    if (first == text.npos) return {};
    return std::string(text.substr(first, text.find_last_not_of(white_space) + 1 - first));
}

std::string without_quotes(std::string_view word) {
    bool const quoted = word.size() > 1 && (word.front() == '"' || word.front() == '\'') && word.back() == word.front();
    return std::string(quoted ? word.substr(1, word.size() - 2) : word);
}

std::vector<std::string> split(std::string_view text) {
    std::vector<std::string> words;
    for (auto word = next_word(text, Values::words); !word.empty(); word = next_word(text, Values::words))
        words.push_back(std::move(word));
    return words;
}

ValueList values_of(Line const& line, std::string_view text, Values kind, Files const& files) {
    if (line.quoted) return quoted_values(text, files);
    ValueList list;
    for (auto word = next_word(text, kind); !word.empty(); word = next_word(text, kind)) {
        if (word.front() != '"' && word.front() != '\'') {
            list.values.push_back(std::move(word));
            continue;
        }
        auto const path = word.substr(1, word.find_first_of("\"'", 1) - 1);
        bool const is_first = list.values.empty();
        bool const is_same = append_file(path, files, list);
        if (is_first && is_same) list.file = path;
        break;
    }
    return list;
}

}   // namespace garner::importing
