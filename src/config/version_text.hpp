// The text of `garner version`.
#pragma once
#include <string>

namespace garner::config {

/// The version, the compiler and the loaded libraries, a line each.
std::string version_text();

}   // namespace garner::config
