// `garner sim`: a trace through the replacement policies, and what each would miss.
#pragma once
#include <iosfwd>
#include <span>
#include <string>

namespace garner::sim {

/// `arguments` after "sim". Results go to `out`; faults, what was left out of the trace, and on long runs the progress
/// to `err`. The exit code: 0 done, 1 the trace cannot be read, 2 a wrong command line.
int sim_command(std::span<std::string const> arguments, std::ostream& out, std::ostream& err);

}  // namespace garner::sim
