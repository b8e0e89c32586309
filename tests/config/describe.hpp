// The generated files about keys: the JSON schema for editors, and the reference page.
#pragma once
#include <string>

namespace garner::config {

/// etc/garner.schema.json (JSON Schema draft 7).
std::string schema_text();

/// docs/reference/configuration.md.
std::string documentation_text();

}   // namespace garner::config
