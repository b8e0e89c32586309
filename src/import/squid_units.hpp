// Sizes and times of squid.conf.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "util/bytes.hpp"
#include "util/clock.hpp"

namespace garner::importing {

/// "512 MB" with Squid's units, which are powers of 1024; bytes without a unit.
std::optional<Bytes> squid_size(std::vector<std::string> const& words);

/// "2 hours", "1 minute"; seconds without a unit. At most 100 years.
std::optional<milliseconds> squid_time(std::vector<std::string> const& words);

}   // namespace garner::importing
