// Checks the files of logins and groups.
#pragma once
#include <string>
#include <vector>

#include "auth/options.hpp"
#include "config/reader.hpp"

namespace garner::config {

/// Notes a fault for each file that cannot be used, and a notice for each bad line of a users' file. Asks no directory.
void try_logins(Reader&, auth::Options const&);

/// The files that are read again while Garner runs.
std::vector<std::string> watched_files(auth::Options const&);

}   // namespace garner::config
