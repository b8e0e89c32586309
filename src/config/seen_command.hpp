// `garner seen`: the commands for crawlers.
#pragma once
#include <iosfwd>
#include <span>
#include <string>

#include "util/command_form.hpp"

namespace garner::config {

/// A command of `garner seen`.
struct SeenCommand {
    std::string_view name;
    int (*run)(std::span<std::string const> arguments, std::istream& in, std::ostream& out, std::ostream& err);
    void (*use_form)(CommandForm::Use const& use);
};
/// All of them. A new one needs its own file and a row here.
std::span<SeenCommand const> seen_command_table();

/// Runs the command that `arguments` begin with. Returns the exit code.
int seen_command(std::span<std::string const> arguments, std::istream& in, std::ostream& out, std::ostream& err);

/// The form of `garner seen`, for its description.
void use_seen_form(CommandForm::Use const& use);

}   // namespace garner::config
