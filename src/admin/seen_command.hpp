// `garner seen`: what a crawler needs to know which URLs it has seen.
#pragma once
#include <iosfwd>
#include <span>
#include <string>

namespace garner::admin {

/// `arguments` after "seen": which of its commands, and what is for that one. The exit code: 0 done, 1 a fault, 2 a wrong
/// command line.
int seen_command(std::span<std::string const> arguments, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace garner::admin
