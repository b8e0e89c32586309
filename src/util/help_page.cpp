#include <algorithm>

#include "util/command_description.hpp"
#include "util/nearest.hpp"
#include "util/option_words.hpp"

namespace garner {
namespace {

using Option = CommandDescription::Option;

constexpr std::size_t widest_name = 28;

std::string wrapped_lines(std::string_view text) {
    if (text.ends_with('\n')) text.remove_suffix(1);   // of help_rows
    std::string lines;
    for (auto const& line : wrapped(text, help_columns)) lines += line + "\n";
    return lines;
}

/// Two columns. The second begins at `column` and may have several lines.
void append_row(std::string& text, std::string_view name, std::string_view what, std::size_t column) {
    std::string line = "  " + std::string(name);
    if (line.size() + 2 > column) {
        text += line + "\n";
        line.clear();
    }
    for (auto const& part : wrapped(what, help_columns - column)) {
        line.resize(column, ' ');
        text += line + part + "\n";
        line.clear();
    }
}

struct TableRow {
    std::string name, what;
};

void append_table(std::string& text, std::string_view heading, std::vector<TableRow> const& rows) {
    if (rows.empty()) return;
    std::size_t width = 0;
    for (auto const& row : rows)
        if (row.name.size() <= widest_name) width = std::max(width, row.name.size());
    text.append("\n").append(heading).append(":\n");
    for (auto const& row : rows) append_row(text, row.name, row.what, width + 4);
}

std::vector<TableRow> option_rows(std::vector<Option> const& options) {
    std::vector<TableRow> rows;
    for (auto const& option : options)
        rows.push_back({option.names + (option.value_name.empty() ? "" : " " + option.value_name), option.help});
    return rows;
}

std::vector<TableRow> subcommand_rows(CommandDescription const& command) {
    std::vector<TableRow> rows;
    for (auto const& below : command.subcommands) rows.push_back({below.usage, below.summary()});
    return rows;
}

std::string exit_line(CommandDescription const& command) {
    std::string text;
    for (auto const& [status, meaning] : command.exit_statuses)
        text += (text.empty() ? "Exit status: " : ", ") + std::to_string(status) + " " + meaning;
    return text + ".";
}

/// A line of the overview.
struct Listed {
    std::string group, usage, summary;
};

void collect(CommandDescription const& command, std::vector<Listed>& listed) {
    if (!command.group.empty()) {
        auto const& usage = command.subcommands.empty() ? command.usage : command.name;
        listed.push_back({command.group, usage, command.summary()});
    }
    for (auto const& below : command.subcommands) collect(below, listed);
}

/// The commands with the groups in the order in which they first appear.
std::vector<Listed> grouped(CommandDescription const& program) {
    std::vector<Listed> listed, sorted;
    collect(program, listed);
    for (auto const& first : listed) {
        if (std::ranges::find(sorted, first.group, &Listed::group) != sorted.end()) continue;
        std::ranges::copy_if(listed, std::back_inserter(sorted), [&](auto const& one) { return one.group == first.group; });
    }
    return sorted;
}

std::string command_lines(CommandDescription const& program) {
    auto const rows = grouped(program);
    std::size_t group_width = 0, usage_width = 0;
    for (auto const& row : rows) {
        group_width = std::max(group_width, row.group.size() + 2);
        usage_width = std::max(usage_width, row.usage.size() + 2);
    }
    std::string text, group;
    for (auto const& row : rows) {
        std::string line = row.group == group ? "" : row.group;
        group = row.group;
        line.resize(group_width, ' ');
        line += row.usage;
        line.resize(group_width + usage_width, ' ');
        text += line + row.summary + "\n";
    }
    return text;
}

/// The error about a word that names no command below `command`.
std::string unknown(std::string const& word, CommandDescription const& command,
                    std::vector<CommandDescription::Topic> const& topics) {
    std::vector<std::string> names;
    for (auto const& below : command.subcommands) names.push_back(below.word());
    for (auto const& topic : topics) names.push_back(topic.name);
    auto const meant = nearest(word, std::vector<std::string_view>(names.begin(), names.end()));
    return "unknown command " + quoted_word(word) + (meant.empty() ? "" : "; did you mean " + std::string(meant) + "?");
}

}   // namespace

CommandDescription const* CommandDescription::find(std::string_view word) const {
    auto const found = std::ranges::find_if(subcommands, [&](auto const& below) { return below.word() == word; });
    return found == subcommands.end() ? nullptr : &*found;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t columns) {
    std::vector<std::string> lines;
    for (std::size_t from = 0; from <= text.size();) {
        auto const end = std::min(text.find('\n', from), text.size());
        auto rest = text.substr(from, end - from);
        while (rest.size() > columns) {
            auto space = rest.rfind(' ', columns);
            if (space == rest.npos || rest.find_first_not_of(' ') > space) space = rest.find(' ', columns);
            if (space == rest.npos) break;
            lines.emplace_back(rest.substr(0, space));
            rest.remove_prefix(space + 1);
        }
        lines.emplace_back(rest);
        from = end + 1;
    }
    return lines;
}

std::string help_page(CommandDescription const& command) {
    bool const is_program = command.name == command.word();
    // The page of the program, with all commands, just fits on a screen.
    auto text = "Usage: " + command.usage + (is_program ? " [options]\n" : " [options]\n\n") + wrapped_lines(command.about);
    if (is_program && !command.group.empty())
        text += "Commands:\n" + command_lines(command);
    else
        append_table(text, "Commands", subcommand_rows(command));
    append_table(text, "Options", option_rows(command.options));
    if (!command.notes.empty()) text += "\n" + wrapped_lines(command.notes);
    if (!command.exit_statuses.empty()) text += "\n" + wrapped_lines(exit_line(command));
    if (!command.examples.empty()) text += "\nExamples:\n";
    for (auto const& example : command.examples) text += "  " + example + "\n";
    return text;
}

std::string overview(CommandDescription const& program) {
    std::string topics;
    for (auto const& topic : topics_of(program)) topics += (topics.empty() ? "" : ", ") + topic.name;
    auto text = "Usage: " + program.usage + " [options]\n" + command_lines(program) + program.word() +
                " help COMMAND prints the options of a command and two examples.";
    return text + (topics.empty() ? "\n" : " Topics: " + topics + ".\n");
}

std::vector<CommandDescription::Topic> topics_of(CommandDescription const& command) {
    auto found = command.topics;
    for (auto const& below : command.subcommands) std::ranges::copy(topics_of(below), std::back_inserter(found));
    return found;
}

HelpAnswer help_about(CommandDescription const& program, std::span<std::string const> words) {
    if (words.empty()) return {overview(program), {}};
    auto const topics = topics_of(program);
    for (auto const& topic : topics)
        if (words.size() == 1 && topic.name == words[0]) return {wrapped_lines(topic.text), {}};
    auto const* command = &program;
    auto const* page = command;
    for (auto const& word : words) {
        auto const* below = command->find(word);
        if (!below) return {{}, unknown(word, *command, command == &program ? topics : decltype(topics){})};
        command = below;
        if (!command->is_part) page = command;
    }
    return {help_page(*page), {}};
}

}   // namespace garner
