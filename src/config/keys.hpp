// The one table of configuration keys: it reads them, and everything written about them is made from it.
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

/// etc/garner.schema.json (JSON Schema draft 7).
std::string schema_text();

/// docs/configuration.md.
std::string documentation_text();

}  // namespace garner::config
