// garner rules: asks the access rules of a configuration, without a running proxy.
#pragma once
#include <iosfwd>

#include "config/command_line.hpp"

namespace garner::config {

/// `line.rest` is the operation: why, decide or test. Returns the exit code.
int rules_command(CommandLine const& line, std::istream& in, std::ostream& out, std::ostream& err);

}   // namespace garner::config
