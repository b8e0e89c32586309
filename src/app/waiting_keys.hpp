// Keys that a reload leaves to a takeover: their values are tried, so that the takeover does not fail later.
#pragma once
#include <string>
#include <vector>

#include "config/config.hpp"
#include "util/result.hpp"

namespace garner::app {

/// `waiting`: the names of such keys that have changed. Opens nothing that stays. The fault names the key.
Result<void> try_waiting_keys(std::vector<std::string> const& waiting, config::Config const& fresh);

}   // namespace garner::app
