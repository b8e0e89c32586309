// `garner seen canon`: the canonical form of URLs, one a line.
#pragma once
#include <iosfwd>
#include <span>
#include <string>

namespace garner::seen_commands {

/// `arguments` after "canon". A line to `out` for each line of `in`: the canonical form, or "!" and what is wrong; how
/// many lines that were goes to `err`. The exit code: 0 done, 1 the input cannot be read or the answers not be written, 2 a wrong
/// command line.
int canon_command(std::span<std::string const> arguments, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace garner::seen_commands
