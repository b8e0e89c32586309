// Keys whose change takes effect only with a restart.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"

namespace garner::config {

/// All such keys, or the parts that contain them ("dns").
std::vector<std::string_view> restart_keys();

/// The keys among restart_keys() that differ. A reload keeps their running values.
std::vector<std::string> cannot_change(Config const& running, Config const& fresh);

}   // namespace garner::config
