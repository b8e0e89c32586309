// `garner seen serve`: the URL-seen service for crawlers.
#pragma once
#include <iosfwd>
#include <span>
#include <string>

#include "util/command_form.hpp"

namespace garner::seen {

/// Runs until SIGTERM or SIGINT. Returns the exit code: 0 stopped, 1 an error, 2 a wrong command line.
int serve_command(std::span<std::string const> arguments, std::istream& in, std::ostream& out, std::ostream& err);

/// The form of its command line, for its description.
void use_serve_form(CommandForm::Use const& use);

}   // namespace garner::seen
