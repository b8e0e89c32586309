// The reference page of the command line, made from the forms of the commands.
#pragma once
#include <string>

#include "util/command_description.hpp"

namespace garner::config {

/// docs/reference/command-line.md.
std::string command_line_text(CommandDescription const& program);

}   // namespace garner::config
