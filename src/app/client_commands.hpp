// Commands that ask a running proxy, by its admin address or its control socket.
#pragma once
#include "config/command_line.hpp"

namespace garner::app {

/// purge, stats, peers, explain, health, log, cache, ca, reload and confirm. Returns the exit code.
int ask(config::CommandLine const& line);

/// garner rules: with --id it asks the running proxy for a refused request.
int ask_rules(config::CommandLine line);

}   // namespace garner::app
