// The words of a command line as options with their values.
#pragma once
#include <algorithm>
#include <charconv>
#include <functional>
#include <span>
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

/// All of the text must be the number.
template <class Number>
bool read_whole_number(std::string_view text, Number& number) {
    auto [end, trouble] = std::from_chars(text.data(), text.data() + text.size(), number);
    return !text.empty() && trouble == std::errc() && end == text.data() + text.size();
}

/// The options of a command.
struct OptionForm {
    std::span<std::string_view const> names;                  // with a value each
    std::span<std::string_view const> flags = {};             // without
    std::string_view instead = "options begin with --";       // said of a word that is none
};

/// Calls take(name, value) for each "--name value", "--name=value" and flag. Ends with the first fault, which names what is
/// wrong; empty: none. `help` becomes true for --help or -h, and nothing after it is read.
inline std::string read_option_words(std::span<std::string const> words, OptionForm const& form, bool& help,
                                     std::function<std::string(std::string_view, std::string_view)> const& take) {
    for (std::size_t i = 0; i < words.size(); ++i) {
        std::string_view const word = words[i];
        if (word == "--help" || word == "-h") return help = true, std::string();
        auto const name = word.substr(0, word.find('='));
        auto value = word.substr(std::min(word.size(), name.size() + 1));
        bool const flag = std::ranges::find(form.flags, word) != form.flags.end();
        if (!word.starts_with("--")) return quoted_word(word) + " is no option; " + std::string(form.instead);
        if (!flag && std::ranges::find(form.names, name) == form.names.end()) return "unknown option " + std::string(name);
        if (!flag && name.size() == word.size() && i + 1 < words.size()) value = words[++i];
        if (!flag && value.empty()) return std::string(name) + " needs a value";
        if (auto fault = take(name, value); !fault.empty()) return fault;
    }
    return {};
}

/// A line of help: `what` begins in the same column for all names of up to 11 letters.
inline void add_help_line(std::string& text, std::string_view indent, std::string_view name, std::string_view what) {
    text += indent;
    text += name;
    text.append(name.size() < 12 ? 12 - name.size() : 1, ' ');
    text += what;
    text += '\n';
}

}  // namespace garner
