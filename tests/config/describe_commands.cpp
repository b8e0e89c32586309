#include "describe_commands.hpp"

#include <algorithm>

namespace garner::config {
namespace {

constexpr char const* command_line_introduction = R"(# Command line

<!-- Made from the forms of the commands; tests/config/commands_test.cpp compares, and says how to make it again. -->

Options and operands may come in any order, and `--name=value` is the same as `--name value`. After `--` all words are operands.
Sizes are written as `64MiB` or `10GB`, and times as `300ms`, `20s` or `5m`. An error names the wrong word, suggests the nearest
known one, and names the help to read. Results go to standard output, and errors go to standard error.

Every command has `-h,--help`, and exits with status 2 if the command line is wrong. Options after "Also" are explained under
[garner](#garner).

`source <(garner completion bash)` loads the completion of commands, options, file names and known values into bash.
`garner completion zsh` prints the script for zsh.

)";

std::string table_cell(std::string_view text) {
    std::string cell;
    for (char c : text) cell += c == '|' ? std::string("\\|") : c == '\n' ? std::string(" ") : std::string(1, c);
    return cell;
}

std::string code(std::vector<std::string> const& lines) {
    std::string text;
    for (auto const& line : lines) text += "    " + line + "\n";
    return text + "\n";
}

/// Keeps lines with two leading spaces: they are two-column tables.
std::string paragraphs(std::string_view text, std::size_t columns) {
    std::string out;
    bool in_table = false;
    for (auto const& line : wrapped(text, columns)) {
        bool const is_row = line.starts_with("  ");
        if (is_row != in_table && !out.ends_with("\n\n") && !out.empty()) out += "\n";
        in_table = is_row;
        out += (is_row ? "  " : "") + line + "\n";
    }
    while (out.ends_with("\n\n")) out.pop_back();
    return out;
}

using Options = std::span<CommandDescription::Option const>;

/// The options in `of_program` are only named: they are explained at the program itself.
std::string options_table(Options options, Options of_program) {
    auto const is_of_program = [&](CommandDescription::Option const& option) {
        return std::ranges::any_of(of_program,
                                   [&](auto const& other) { return other.names == option.names && other.help == option.help; });
    };
    std::string rows, named;
    for (auto const& option : options) {
        auto const value = option.value_name.empty() ? "" : " " + option.value_name;
        if (option.names == "-h,--help") continue;
        if (is_of_program(option))
            named += (named.empty() ? "Also `" : ", `") + option.names + "`";
        else
            rows += "| `" + table_cell(option.names + value) + "` | " + table_cell(option.help) + " |\n";
    }
    if (!rows.empty()) rows = "| Option | Meaning |\n|---|---|\n" + rows + "\n";
    return rows + (named.empty() ? "" : named + ".\n\n");
}

/// Status 2 has the same meaning in all commands.
std::string statuses_line(std::vector<CommandDescription::ExitStatus> const& statuses) {
    std::string text;
    for (auto const& [status, meaning] : statuses)
        if (meaning != "wrong command line")
            text += (text.empty() ? "Exit status: " : "; ") + std::to_string(status) + " " + meaning;
    return text + ".\n\n";
}

std::string subcommands_table(CommandDescription const& command) {
    std::string text = "| Command | Meaning |\n|---|---|\n";
    for (auto const& below : command.subcommands) text += "| `" + below.usage + "` | " + table_cell(below.summary()) + " |\n";
    return text + "\n";
}

void append_command(std::string& text, CommandDescription const& command, CommandDescription const& program) {
    if (command.is_part) return;
    bool const is_program = &command == &program;
    text += "## " + command.name + "\n\n    " + command.usage + " [options]\n\n" + paragraphs(command.about, 132) + "\n";
    if (!is_program && !command.subcommands.empty()) text += subcommands_table(command);
    text += options_table(command.options, is_program ? Options() : program.options) + statuses_line(command.exit_statuses);
    if (!command.notes.empty()) text += paragraphs(command.notes, 132) + "\n";
    text += "Examples:\n\n" + code(command.examples);
    for (auto const& below : command.subcommands) append_command(text, below, program);
}

}   // namespace

std::string command_line_text(CommandDescription const& program) {
    std::string text = command_line_introduction;
    text += "## Overview\n\n";
    for (auto const& line : wrapped(overview(program), 128)) text += line.empty() ? "\n" : "    " + line + "\n";
    append_command(text, program, program);
    for (auto const& topic : topics_of(program))
        text += "## garner help " + topic.name + "\n\n" + paragraphs(topic.text, 132) + "\n";
    while (text.ends_with("\n\n")) text.pop_back();
    return text;
}

}   // namespace garner::config
