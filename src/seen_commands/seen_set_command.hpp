// `garner seen set`: a file of URLs or fingerprints into an exact set, and what that took.
#pragma once
#include <iosfwd>
#include <span>
#include <string>

namespace garner::seen_commands {

/// `arguments` after "set". Results go to `out`; faults, and on long runs the progress, to `err`. The exit code: 0 done,
/// 1 the input cannot be read, the set not be kept, or --verify found it wrong, 2 a wrong command line.
int seen_set_command(std::span<std::string const> arguments, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace garner::seen_commands
