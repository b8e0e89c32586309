// Parts of the value of an option.
#pragma once
#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

namespace garner {

inline std::string quoted_word(std::string_view text) { return "\"" + std::string(text) + "\""; }

/// The parts of "a,b,c"; at least one, which may be empty.
inline std::vector<std::string_view> comma_parts(std::string_view list) {
    std::vector<std::string_view> found;
    for (std::size_t from = 0; from <= list.size();) {
        auto to = std::min(list.find(',', from), list.size());
        found.push_back(list.substr(from, to - from));
        from = to + 1;
    }
    return found;
}

/// "a, b, c": the names of the rows of a table.
template <class Rows>
std::string names_of(Rows const& rows) {
    std::string text;
    for (auto const& row : rows) (text += text.empty() ? "" : ", ") += row.name;
    return text;
}

/// True if the whole text is a number.
template <class Number>
bool read_whole_number(std::string_view text, Number& number) {
    auto [end, trouble] = std::from_chars(text.data(), text.data() + text.size(), number);
    return !text.empty() && trouble == std::errc() && end == text.data() + text.size();
}

}   // namespace garner
