// `garner seen model`: the links of a crawl that never was, for `garner seen sim`.
#pragma once
#include <iosfwd>
#include <span>
#include <string>

namespace garner::seen_commands {

/// `arguments` after "seen model". URL numbers go to `out`, or to a file, as little-endian u32. The exit code: 0 done, 1
/// they cannot be written, 2 a wrong command line.
int seen_model_command(std::span<std::string const> arguments, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace garner::seen_commands
