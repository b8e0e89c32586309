// The program garner.
#pragma once
#include <span>

namespace garner::app {

/// Executes the command that the arguments (argv without the program) have; without one it starts the proxy. Returns the exit
/// status of the process. Called once, on the main thread.
int run_program(std::span<char const* const> arguments);

}   // namespace garner::app
