// `garner seen sim`: a crawl's links through caches of seen URLs, and what each would miss.
#pragma once
#include <iosfwd>
#include <span>
#include <string>

namespace garner::seen_commands {

/// `arguments` after "seen sim". Results go to `out`, faults and on long runs the progress to `err`. The exit code: 0
/// done, 1 the stream cannot be read or a size does not fit, 2 a wrong command line.
int seen_sim_command(std::span<std::string const> arguments, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace garner::seen_commands
