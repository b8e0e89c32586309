// `garner sim`: replays a trace through the replacement policies and reports their misses.
#pragma once
#include <iosfwd>
#include <span>
#include <string>

namespace garner::sim {

/// `arguments` after "sim". Results go to `out`; errors, notes on ignored parts of the trace and, on long runs, the
/// progress go to `err`. Returns the exit code: 0 done, 1 the trace cannot be read, 2 a wrong command line.
int sim_command(std::span<std::string const> arguments, std::ostream& out, std::ostream& err);

}   // namespace garner::sim
