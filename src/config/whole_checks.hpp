// Checks that concern several parts of a configuration.
#pragma once
#include "config/config.hpp"
#include "config/reader.hpp"

namespace garner::config {

/// After all keys are read. `value`: the whole configuration as written.
void check_whole(Reader&, Json const& value, Config&);

}   // namespace garner::config
