// Times of the week in squid.conf for Garner's matcher `time`.
#pragma once
#include <string>
#include <vector>

#include "util/result.hpp"

namespace garner::importing {

/// "MTWHF 08:00-18:00" becomes "Mon-Fri 08:00-18:01": Squid's windows include their last minute. Each time of day takes the days
/// written before it. A fault for a malformed word and for a time that ends before it begins.
Result<std::vector<std::string>> week_times(std::vector<std::string> const& words);

}   // namespace garner::importing
