// Keys whose change takes effect only with a restart.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"

namespace garner::config {

/// All such keys, or the parts that contain them ("dns").
std::vector<std::string_view> restart_keys();

/// Those keys that differ between the two; the running values stay.
std::vector<std::string> cannot_change(Config const& running, Config const& fresh);

}   // namespace garner::config
