// A command of the program: its operands and options, where their values go, and its help. Parses with CLI11.
#pragma once
#include <algorithm>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "util/bytes.hpp"
#include "util/numbers.hpp"
#include "util/option_words.hpp"

namespace garner {

/// Every value that is declared with a reference must live until the command line has been read.
class CommandForm {
public:
    /// Takes the value of an option or operand. Returns the error, empty if the value is valid.
    using Take = std::function<std::string(std::string_view name, std::string_view value)>;

    /// The result of reading a command line.
    struct Reading {
        bool help = false;      // or the version
        std::string fault;      // one line that names the error and a suggested fix; empty if there is none
        std::string text;       // the help, or the fault and the command that prints the help

        /// Prints the text. The exit code, or nothing if the command is to run.
        std::optional<int> print(std::ostream& out, std::ostream& err) const;
    };

    /// `name`: the words before the operands and options, "garner seen sim".
    CommandForm(std::string name, std::string about);
    CommandForm(CommandForm const&) = delete;

    /// "URL", or "[PATTERN]" if it may be absent. A command has at most one.
    CommandForm& operand(std::string_view spec, Take);
    CommandForm& operand(std::string_view spec, std::string& value) { return operand(spec, into(value)); }
    /// Replaces the message about an operand of a command without operands.
    CommandForm& no_operand(std::string hint) { return no_operand_ = std::move(hint), *this; }
    /// "--size SIZE" or "-H,--header FIELD". Subcommands accept the options of the commands above them.
    CommandForm& option(std::string_view spec, std::string help, Take take) { return add(spec, std::move(help), std::move(take)); }
    CommandForm& option(std::string_view spec, std::string help, std::string& value) { return add(spec, std::move(help), into(value)); }
    CommandForm& flag(std::string_view spec, std::string help, bool& value) { return add(spec, std::move(help), {}, &value); }
    CommandForm& required(std::string_view spec, std::string help, std::string& value);
    /// Checks the options together, after all of them have been taken. Returns the error.
    CommandForm& check(std::function<std::string()> check) { return check_ = std::move(check), *this; }
    /// Text after the options, such as the exit codes.
    CommandForm& notes(std::string text) { return notes_ = std::move(text), *this; }
    /// The command runs without a subcommand, too.
    CommandForm& subcommand_optional() { return subcommand_optional_ = true, *this; }
    /// What --version prints.
    CommandForm& version(std::string text) { return version_ = std::move(text), *this; }
    /// Adds a subcommand; `chosen` is called before its options are taken. With `rest` it reads its own command line: all
    /// words after its name go there.
    CommandForm& subcommand(std::string_view word, std::string about, std::function<void()> chosen,
                            std::vector<std::string>* rest = nullptr);

    /// `words` without the command's name. Options and operands may come in any order; "--name=value" is the same as
    /// "--name value", and after "--" all words are operands.
    Reading read(std::span<std::string const> words) const;

private:
    struct Row {
        std::string names, value_name, help;
        Take take;
        bool* flag = nullptr;       // has no value
    };
    class Reader;

    static Take into(std::string& value);
    CommandForm& add(std::string_view spec, std::string help, Take take, bool* flag = nullptr);
    CommandForm const& documented() const;
    std::string help() const;
    std::string usage() const;
    std::string subcommand_lines() const;
    std::string name_below(CommandForm const& root) const;
    Row const* find_row(std::string_view name) const;
    bool is_part() const { return parent_ && parent_->parent_; }   // the help of the command above describes it

    CommandForm const* parent_ = nullptr;
    std::string name_, word_, about_, notes_, no_operand_, version_;   // the word is the end of the name
    std::vector<Row> rows_;
    struct Required {
        std::string spec;               // "--trace FILE"
        std::string const* value;
        std::string word() const { return spec.substr(2, spec.find(' ') - 2); }
    };
    std::optional<Required> required_;
    std::string operand_;           // its name; empty: none
    bool operand_optional_ = false, subcommand_optional_ = false;
    Take take_operand_;
    std::function<std::string()> check_;
    std::function<void()> chosen_;
    std::vector<std::string>* rest_ = nullptr;
    std::vector<std::unique_ptr<CommandForm>> subcommands_;
};

/// A number from `least` to `most`.
template <class Number>
CommandForm::Take number_into(Number& to, Number least, Number most) {
    return [=, &to](std::string_view name, std::string_view value) -> std::string {
        if (read_whole_number(value, to) && to >= least && to <= most) return {};
        auto const text = [](Number number) {
            if constexpr (std::is_floating_point_v<Number>) return short_number(number);
            else return std::to_string(number);
        };
        return std::string(name) + ": " + quoted_word(value) + " is not a number from " + text(least) + " to " + text(most);
    };
}

/// A size such as "2GiB".
CommandForm::Take size_into(Bytes& to, Bytes least = 0);

/// "table", or "json" for true.
CommandForm::Take format_into(bool& json);

/// Two columns for the help, the name and the `what` of each row and of its settings, if it has any.
template <class Rows>
std::string help_rows(Rows const& rows) {
    std::size_t width = 10;
    for (auto const& row : rows) width = std::max(width, row.name.size() + 2);
    std::string text;
    auto const add = [&](std::string_view indent, std::string_view name, std::string_view what) {
        text.append(indent).append(name);
        text.append(name.size() < width ? width - name.size() : 1, ' ').append(what).append("\n");
    };
    for (auto const& row : rows) {
        add("  ", row.name, row.what);
        if constexpr (requires { row.settings; })
            for (auto const& setting : row.settings) add("      ", setting.name, setting.what);
    }
    return text;
}

}  // namespace garner
