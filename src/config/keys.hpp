// The one table of configuration keys: it reads them, and the schema and the documentation are made from it (tests/config).
#pragma once
#include <string>
#include <vector>

#include "config/config.hpp"
#include "config/form.hpp"

namespace garner::config {

/// Reads a whole configuration.
Form<Config> const& configuration();

/// The paths of all keys, "[]" standing for any index.
std::vector<std::string> key_paths();

}  // namespace garner::config
