// `garner seen serve`: the service a crawler asks, as a program of its own.
#pragma once
#include <iosfwd>
#include <span>
#include <string>

#include "util/command_form.hpp"

namespace garner::seen {

/// Runs until SIGTERM or SIGINT. The exit code: 0 stopped, 1 a fault, 2 a wrong command line.
int serve_command(std::span<std::string const> arguments, std::istream& in, std::ostream& out, std::ostream& err);

/// The form of its command line, for its description.
void use_serve_form(CommandForm::Use const& use);

}   // namespace garner::seen
