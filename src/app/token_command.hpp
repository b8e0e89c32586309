// garner token: makes a token for the admin address.
#pragma once
#include <iosfwd>
#include <string>

#include "admin/roles.hpp"
#include "config/command_line.hpp"
#include "util/result.hpp"

namespace garner::app {

/// Prints the token, and then its line for admin.tokens. Returns the exit code: 1 if the name is not valid.
int make_token(std::string const& name, admin::Role role, std::ostream& out, std::ostream& err);

/// The token that a command sends: from its --token-file, else from GARNER_TOKEN; empty without both.
Result<std::string> token_of(config::CommandLine const&);

}   // namespace garner::app
