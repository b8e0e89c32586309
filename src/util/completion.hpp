// Scripts that complete a program's commands, options and values in a shell.
#pragma once
#include <string>

#include "util/command_description.hpp"

namespace garner {

/// For bash 4 and later. Needs no other package: bash splits words at "=" and ":", and the script accounts for that.
std::string bash_completion(CommandDescription const& program);
/// For zsh, to be sourced or to be stored as a file in $fpath.
std::string zsh_completion(CommandDescription const& program);

}   // namespace garner
