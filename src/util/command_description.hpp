// A command as its help, the shells' completion and the reference page show it.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace garner {

struct CommandDescription {
    struct Option {
        std::string names;        // "-H,--header"
        std::string value_name;   // "FIELD"; "FILE" and "DIR" are paths, "NAME,..." is a list; empty: a flag
        std::string help;
        std::vector<std::string> values = {};   // the words that completion proposes
    };
    struct Topic {
        std::string name, text;   // garner help NAME prints the text
    };
    struct ExitStatus {
        int status;
        std::string meaning;
    };

    std::string name;                   // "garner cache ls"
    std::string usage;                  // "garner cache ls [PATTERN]"
    std::string group;                  // its heading in the overview; empty: the overview does not list it
    std::string about;                  // the first line is a summary
    Option operand = {};                // its `value_name` is "PATTERN"; empty: the command takes none
    std::vector<Option> options = {};   // its own first, then those of the commands above it
    std::string notes = {};
    std::vector<ExitStatus> exit_statuses = {};
    std::vector<std::string> examples = {};
    std::vector<Topic> topics = {};
    std::vector<CommandDescription> subcommands = {};
    bool is_part = false;   // the page of the command above describes it, too

    /// "ls": the last word of the name.
    std::string word() const { return name.substr(name.rfind(' ') + 1); }
    std::string summary() const { return about.substr(0, about.find('\n')); }
    /// The subcommand of that word; nullptr if there is none.
    CommandDescription const* find(std::string_view word) const;
};

inline constexpr std::size_t help_columns = 100;

/// `text` with every line broken at spaces so that it fits into `columns`. Words longer than a line stay whole.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns);

/// The page that --help prints. It ends with the examples.
std::string help_page(CommandDescription const&);
/// One line for each command of a program, under the headings of their groups.
std::string overview(CommandDescription const& program);
/// The topics of a command and of its subcommands.
std::vector<CommandDescription::Topic> topics_of(CommandDescription const&);

struct HelpAnswer {
    std::string text;    // empty: there is no such command or topic
    std::string fault;   // names the unknown word and a suggested fix
};
/// The page about `words`, a command below `program` or a topic. With no words: the overview.
HelpAnswer help_about(CommandDescription const& program, std::span<std::string const> words);

}   // namespace garner
