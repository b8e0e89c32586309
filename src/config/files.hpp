// Checks if the files named in a configuration are usable.
#pragma once
#include "config/config.hpp"
#include "config/reader.hpp"

namespace garner::config {

/// Notes a fault for each file without which the program cannot start, and a notice for each optional one. Checks with the
/// rights of this process, and creates and changes nothing.
void try_files(Reader&, Config const&);

}   // namespace garner::config
