// garner check: prints a configuration's errors to standard output.
#pragma once
#include <iosfwd>
#include <span>
#include <string>

#include "config/load.hpp"

namespace garner::config {

/// Prints one line for each error ("FILE:LINE: key: text (suggested fix)") and each notice (with "notice: " before the
/// text), nothing else. Returns the exit code: 1 if there is an error, else 0.
int check_command(std::string const& file, std::span<std::string const> sets, std::ostream& out);

/// Prints the same lines, for a refused start or reload.
void print_faults(std::span<Fault const> faults, std::ostream& out);
void print_notices(std::span<Fault const> notices, std::ostream& out);

}   // namespace garner::config
