// The reference page of the command line, generated from the command forms.
#pragma once
#include <string>

#include "util/command_description.hpp"

namespace garner::config {

/// docs/reference/command-line.md.
std::string command_line_text(CommandDescription const& program);

}   // namespace garner::config
