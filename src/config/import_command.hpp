// garner import: prints the configuration that stands for a squid.conf.
#pragma once
#include <iosfwd>
#include <string>

namespace garner::config {

/// Prints the configuration to `out`, and to `err` a line for each directive that was dropped or needs the operator, then the
/// totals. Returns the exit code: 0 if no directive needs the operator, 2 if one does, 1 if the file cannot be read.
int import_command(std::string const& file, std::ostream& out, std::ostream& err);

}   // namespace garner::config
