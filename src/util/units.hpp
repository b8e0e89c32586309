// Sizes and times in readable form.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "util/bytes.hpp"
#include "util/clock.hpp"

namespace garner {

/// "64 MiB", "10 GB", "1.5GiB", "4096": a number, an optional space, a unit in any case. KB, MB, GB, TB are powers of 1000;
/// KiB, MiB, GiB, TiB of 1024. "64M" is refused as ambiguous. Fractions of a byte are dropped. At most 2^63.
std::optional<Bytes> parse_size(std::string_view text);

/// "300ms", "2s", "5m", "1h", "7d", "1.5h"; only "0" needs no unit. At most 100 years.
std::optional<milliseconds> parse_time(std::string_view text);

/// The exact form with the smallest number, which parses to the same value: "64 MiB", "10 GB", "4097".
std::string size_text(Bytes);
/// "5m", "1500ms", "0s". Must not be negative.
std::string time_text(milliseconds);

}   // namespace garner
