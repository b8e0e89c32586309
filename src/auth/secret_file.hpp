// A password in a file.
#pragma once
#include <string>

#include "auth/secret.hpp"
#include "util/result.hpp"

namespace garner::auth {

/// The first line of the file, at most 4,096 bytes. A fault has no Fault::where; its text names the path.
Result<Secret> read_secret(std::string const& path);

}   // namespace garner::auth
