// The table of configuration keys. It reads them, and generates the schema and the documentation (tests/config).
#pragma once
#include <string>
#include <vector>

#include "config/config.hpp"
#include "config/form.hpp"

namespace garner::config {

/// Reads a whole configuration.
Form<Config> const& configuration();

/// The paths of all keys; "[]" stands for any index. Made once: it describes the whole configuration.
std::vector<std::string> const& key_paths();

}   // namespace garner::config
