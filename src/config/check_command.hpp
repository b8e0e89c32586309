// garner check: a configuration's faults on standard output.
#pragma once
#include <iosfwd>
#include <span>
#include <string>

#include "config/load.hpp"

namespace garner::config {

/// Prints one line for each fault ("FILE:LINE: key: text (mend)") and each notice (the same with "notice: " before the
/// text), nothing else. Returns the exit code: 1 when there is a fault, else 0.
int check_command(std::string const& file, std::span<std::string const> sets, std::ostream& out);

/// The same lines, for a start or a reload that is refused.
void print_faults(std::span<Fault const> faults, std::ostream& out);
void print_notices(std::span<Fault const> notices, std::ostream& out);

}  // namespace garner::config
