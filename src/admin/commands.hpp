// garner purge, garner stats: commands that ask a running proxy over its admin address.
#pragma once
#include <iosfwd>

#include "config/command_line.hpp"

namespace garner::admin {

/// Carries out purge or stats; the exit code.
int run_command(config::CommandLine const& line, std::ostream& out, std::ostream& err);

}  // namespace garner::admin
