// Times that an operator writes.
#pragma once
#include <optional>
#include <string_view>

#include "util/clock.hpp"

namespace garner::proxy {

/// "2026-11-23T09:30:10Z", in UTC and from 1970 on, or "Mon 09:00": this local weekday and time of some week.
std::optional<WallTime> parse_moment(std::string_view text);

}   // namespace garner::proxy
