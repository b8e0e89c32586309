// The commands for crawlers that run beside the service.
//
// `arguments` are those after the command's name. Results go to `out`, errors and the progress of long runs to `err`. The exit
// code: 0 done, 1 an input cannot be read or a result cannot be kept, 2 a wrong command line.
#pragma once
#include <iosfwd>
#include <span>
#include <string>

#include "util/command_form.hpp"

namespace garner::seen_commands {

/// `garner seen canon`: writes the canonical form of each URL of `in`, one a line, or "!" and the reason why there is none.
int canon_command(std::span<std::string const> arguments, std::istream& in, std::ostream& out, std::ostream& err);

/// `garner seen set`: puts a file of URLs or fingerprints into an exact set and reports time and memory.
int seen_set_command(std::span<std::string const> arguments, std::istream& in, std::ostream& out, std::ostream& err);

/// `garner seen sim`: replays a crawl's links through caches of seen URLs and reports the misses of each.
int seen_sim_command(std::span<std::string const> arguments, std::istream& in, std::ostream& out, std::ostream& err);

/// `garner seen model`: makes the links of a crawl for `garner seen sim`.
int seen_model_command(std::span<std::string const> arguments, std::istream& in, std::ostream& out, std::ostream& err);

/// The forms of their command lines, for their descriptions.
void use_canon_form(CommandForm::Use const& use);
void use_set_form(CommandForm::Use const& use);
void use_seen_sim_form(CommandForm::Use const& use);
void use_model_form(CommandForm::Use const& use);

}   // namespace garner::seen_commands
