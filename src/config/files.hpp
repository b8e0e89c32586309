// Checks if the files named in a configuration are usable.
#pragma once
#include "config/config.hpp"
#include "config/reader.hpp"

namespace garner::config {

/// Notes a fault for each file without which the program cannot start, and a notice for each optional one. Checks with the
/// rights of the account that Garner switches to, else with those of this process. Creates and changes nothing. Forks:
/// only for a process without other threads.
void try_files(Reader&, Config const&);

/// Notes a fault for each file without which a reload fails, with the rights of this process. Does not fork.
void try_files_of_reload(Reader&, Config const&);

}   // namespace garner::config
