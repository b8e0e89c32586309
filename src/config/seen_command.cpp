#include "config/seen_command.hpp"

#include <array>
#include <iostream>

#include "seen/serve_command.hpp"
#include "seen_commands/seen_commands.hpp"

namespace garner::config {
namespace {

constexpr std::array seen_command_rows{
    SeenCommand{"canon", seen_commands::canon_command, seen_commands::use_canon_form},
    SeenCommand{"set", seen_commands::seen_set_command, seen_commands::use_set_form},
    SeenCommand{"sim", seen_commands::seen_sim_command, seen_commands::use_seen_sim_form},
    SeenCommand{"serve", seen::serve_command, seen::use_serve_form},
    SeenCommand{"model", seen_commands::seen_model_command, seen_commands::use_model_form},
};

constexpr char const* about_seen = "Commands for crawlers and their sets of seen URLs.\n"
                                   "Each of them has its own options; garner help seen COMMAND prints them.";

/// `chosen` and `rest` receive the command and its arguments.
void declare(CommandForm& form, SeenCommand const*& chosen, std::vector<std::string>& rest) {
    for (auto const& row : seen_command_rows)
        form.subcommand(
                row.name, {}, [&chosen, &row] { chosen = &row; }, &rest)
            .own_form(row.use_form);
    form.exit_statuses({{0, "done"}, {1, "failure"}, {2, "wrong command line"}})
        .examples({"garner seen canon < urls.txt", "garner seen serve --path /var/lib/garner/seen"});
}

}   // namespace

std::span<SeenCommand const> seen_command_table() { return seen_command_rows; }

int seen_command(std::span<std::string const> arguments, std::istream& in, std::ostream& out, std::ostream& err) {
    SeenCommand const* chosen = nullptr;
    std::vector<std::string> rest;
    CommandForm form("garner seen", about_seen);
    declare(form, chosen, rest);
    if (auto const code = form.read(arguments).print(out, err)) return *code;
    std::ios::sync_with_stdio(false);   // it reads and writes millions of lines
    return chosen->run(rest, in, out, err);
}

void use_seen_form(CommandForm::Use const& use) {
    SeenCommand const* chosen = nullptr;
    std::vector<std::string> rest;
    CommandForm form("garner seen", about_seen);
    declare(form, chosen, rest);
    use(form);
}

}   // namespace garner::config
