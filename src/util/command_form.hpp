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
#include <utility>
#include <vector>

#include "util/bytes.hpp"
#include "util/command_description.hpp"
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
        bool help = false;   // or the version
        std::string fault;   // one line that names the error and a suggested fix; empty if there is none
        std::string text;    // the help, or the fault and the command that prints the help

        /// Prints the text. The exit code, or nothing if the command is to run.
        std::optional<int> print(std::ostream& out, std::ostream& err) const;
    };

    /// `name`: the words before the operands and options, "garner seen sim".
    CommandForm(std::string name, std::string about);
    CommandForm(CommandForm const&) = delete;

    /// "URL", "[PATTERN]" if it may be absent, or "URL..." if it may be repeated. A command has at most one.
    CommandForm& operand(std::string_view spec, Take);
    CommandForm& operand(std::string_view spec, std::string& value) { return operand(spec, into(value)); }
    /// A second operand, which may be missing: "[CLIENT]".
    CommandForm& and_operand(std::string_view spec);
    /// Replaces the message about an operand of a command without operands.
    CommandForm& no_operand(std::string hint) { return no_operand_ = std::move(hint), *this; }
    /// "--size SIZE" or "-H,--header FIELD". Subcommands accept the options of the commands above them.
    CommandForm& option(std::string_view spec, std::string help, Take take) { return add(spec, std::move(help), std::move(take)); }
    CommandForm& option(std::string_view spec, std::string help, std::string& value) {
        return add(spec, std::move(help), into(value));
    }
    CommandForm& flag(std::string_view spec, std::string help, bool& value) { return add(spec, std::move(help), {}, &value); }
    CommandForm& required(std::string_view spec, std::string help, std::string& value);
    /// Checks the options together, after all of them have been taken. Returns the error.
    CommandForm& check(std::function<std::string()> check) { return check_ = std::move(check), *this; }
    /// Words that completion proposes for the option or operand that was declared last. They are made for a description only.
    using Words = std::function<std::vector<std::string>()>;
    CommandForm& values(Words words);
    CommandForm& values(std::vector<std::string> words) {
        return values([words = std::move(words)] { return words; });
    }
    /// The heading in the overview. A command without one is not listed there.
    CommandForm& group(std::string_view name) { return group_ = name, *this; }
    /// Text after the options.
    CommandForm& notes(std::string text) { return notes_ = std::move(text), *this; }
    CommandForm& exit_statuses(std::vector<CommandDescription::ExitStatus> all) { return exit_statuses_ = std::move(all), *this; }
    /// Command lines for a shell, printed as the last lines of the help.
    CommandForm& examples(std::vector<std::string> lines) { return examples_ = std::move(lines), *this; }
    /// `garner help NAME` prints the text.
    CommandForm& topic(std::string name, std::string text) { return topics_.push_back({std::move(name), std::move(text)}), *this; }
    /// The command runs without a subcommand, too.
    CommandForm& subcommand_optional() { return subcommand_optional_ = true, *this; }
    /// The text of --version.
    CommandForm& version(std::string text) { return version_ = std::move(text), *this; }
    /// Adds a subcommand; `chosen` is called before its options are taken. With `rest` it reads its own command line: all
    /// words after its name go there.
    CommandForm& subcommand(std::string_view word, std::string about, std::function<void()> chosen,
                            std::vector<std::string>* rest = nullptr);
    /// Calls its argument with a form. The values that the form reads are lost.
    using Use = std::function<void(CommandForm const&)>;
    using MakeForm = std::function<void(Use const&)>;
    /// The form by which a subcommand with `rest` reads its own command line: it describes the subcommand.
    CommandForm& own_form(MakeForm make) { return own_form_ = std::move(make), *this; }

    /// `words` without the command's name. Options and operands may come in any order; "--name=value" is the same as
    /// "--name value", and after "--" all words are operands.
    Reading read(std::span<std::string const> words) const;

    /// An option with an empty help text is accepted and not described.
    CommandDescription describe() const;

private:
    struct Row : CommandDescription::Option {
        Take take;
        bool* flag = nullptr;   // has no value
        Words words;            // may be empty
    };
    class Reader;

    static Take into(std::string& value);
    CommandForm& add(std::string_view spec, std::string help, Take take, bool* flag = nullptr);
    CommandForm const& documented() const;
    std::string usage() const;
    void describe_options(std::vector<CommandDescription::Option>& options) const;
    std::string name_below(CommandForm const& root) const;
    Row const* find_row(std::string_view name) const;
    bool takes_many() const { return operand_.ends_with("..."); }
    bool is_part() const { return parent_ && parent_->parent_; }   // the help of the command above describes it
    std::string and_second() const;

    CommandForm const* parent_ = nullptr;
    std::string name_, word_, about_, notes_, no_operand_, version_, group_;   // the word is the end of the name
    std::vector<Row> rows_;
    struct Required {
        std::string spec;   // "--trace FILE"
        std::string const* value;
        std::string word() const { return spec.substr(2, spec.find(' ') - 2); }
    };
    std::optional<Required> required_;
    std::string operand_;          // its name; empty: none
    std::string second_operand_;   // as in the usage: "[CLIENT]"; empty: none
    Words operand_words_;
    bool operand_optional_ = false, subcommand_optional_ = false, operand_is_last_ = false;
    Take take_operand_;
    std::function<std::string()> check_;
    std::function<void()> chosen_;
    std::vector<std::string>* rest_ = nullptr;
    MakeForm own_form_;
    std::vector<CommandDescription::ExitStatus> exit_statuses_;
    std::vector<std::string> examples_;
    std::vector<CommandDescription::Topic> topics_;
    std::vector<std::unique_ptr<CommandForm>> subcommands_;
};

/// A number from `least` to `most`.
template <class Number>
CommandForm::Take number_into(Number& to, Number least, Number most) {
    return [=, &to](std::string_view name, std::string_view value) -> std::string {
        if (read_whole_number(value, to) && to >= least && to <= most) return {};
        auto const text = [](Number number) {
            if constexpr (std::is_floating_point_v<Number>)
                return short_number(number);
            else
                return std::to_string(number);
        };
        return std::string(name) + ": " + quoted_word(value) + " is not a number from " + text(least) + " to " + text(most);
    };
}

/// A size such as "2GiB".
CommandForm::Take size_into(Bytes& to, Bytes least = 0);

/// "table", or "json" for true.
CommandForm::Take format_into(bool& json);

/// The names of the rows of a table, for completion.
template <class Rows>
std::vector<std::string> row_names(Rows const& rows) {
    std::vector<std::string> names;
    for (auto const& row : rows) names.emplace_back(row.name);
    return names;
}

/// Two columns for the help, the name and the `what` of each row.
template <class Rows>
std::string help_rows(Rows const& rows) {
    std::size_t width = 10;
    for (auto const& row : rows) width = std::max(width, row.name.size() + 2);
    std::string text;
    for (auto const& row : rows) {
        (text += "  ").append(row.name).append(width - row.name.size(), ' ');
        bool first = true;
        for (auto const& line : wrapped(row.what, help_columns - width - 2)) {
            if (!std::exchange(first, false)) text.append(width + 2, ' ');
            text += line + "\n";
        }
    }
    return text;
}

/// The settings of all rows of a table. Rows that share a setting are named in one line.
template <class Rows>
std::string help_settings(Rows const& rows) {
    struct Shared {
        std::string name, owners, what;
    };
    std::vector<Shared> all;
    for (auto const& row : rows)
        for (auto const& setting : row.settings) {
            auto const same = [&](Shared const& one) { return one.name == setting.name && one.what == setting.what; };
            auto const known = std::find_if(all.begin(), all.end(), same);
            if (known == all.end())
                all.push_back({std::string(setting.name), std::string(row.name), std::string(setting.what)});
            else
                (known->owners += ", ") += row.name;
        }
    struct Line {
        std::string name, what;
    };
    std::vector<Line> lines;
    for (auto& [name, owners, what] : all) lines.push_back({std::move(name), owners + ": " + what});
    return help_rows(lines);
}

}   // namespace garner
