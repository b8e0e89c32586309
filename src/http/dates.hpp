// HTTP dates (RFC 9110 5.6.7): the one form that is sent, and the three forms that are accepted.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "util/clock.hpp"

namespace garner::http {

/// Seconds since 1970-01-01T00:00:00Z, or nothing when the text is neither IMF-fixdate, RFC 850 date nor asctime date. The
/// match is byte for byte except for the case of day names, month names and "GMT". Day names must exist but need not be
/// right. `now` resolves the two-digit year of RFC 850: at most 50 years in the future. A leap second counts as the second
/// after it. Allocates nothing.
std::optional<std::int64_t> parse_http_date(std::string_view text, WallTime now);

/// The short names of the days, in the order of struct tm's tm_wday.
inline constexpr std::array<std::string_view, 7> day_names{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};

/// Length of an IMF-fixdate.
inline constexpr std::size_t http_date_bytes = 29;

/// Writes "Sun, 06 Nov 1994 08:49:37 GMT" without a terminating zero. Years outside 0..9999 are clamped to that range.
void format_http_date(std::int64_t unix_seconds, char* out29);
std::string format_http_date(std::int64_t unix_seconds);

}   // namespace garner::http
