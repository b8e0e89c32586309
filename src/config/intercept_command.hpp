// garner intercept: the firewall of listeners that intercept.
#pragma once
#include <iosfwd>
#include <span>

#include "config/command_line.hpp"
#include "proxy/options.hpp"

namespace garner::config {

/// Prints the script, or what is missing on this machine. Returns the exit code: 1 if something is missing, or no listener
/// intercepts.
int intercept_command(CommandLine::Intercept const& intercept, std::span<proxy::Listen const> listen, std::ostream& out,
                      std::ostream& err);

}   // namespace garner::config
