// The files that a configuration names: whether they can be used as it says.
#pragma once
#include "config/config.hpp"
#include "config/reader.hpp"

namespace garner::config {

/// Notes a fault for each file without which nothing would start, a notice for one that would merely be missed. Looks
/// with the rights of this process, and makes and changes nothing.
void try_files(Reader&, Config const&);

}  // namespace garner::config
