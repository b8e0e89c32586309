// Keys whose change takes effect only with a takeover or a restart.
#pragma once
#include <span>
#include <string_view>

namespace garner::config {

/// All such keys, or the parts that contain them ("seen").
std::span<std::string_view const> takeover_keys();

/// True if `key` ("seen.address") is one of takeover_keys(), or below one.
bool needs_takeover(std::string_view key);

}   // namespace garner::config
