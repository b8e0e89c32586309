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

/// "900 Mbit/s", "12 MiB/s", "64 KB/s", "4096": bytes a second. Bits have the units bit/s, kbit/s, Mbit/s and Gbit/s; bytes have an
/// upper-case B. "Mb/s" and "Mbps" are refused as ambiguous. Rounded up to whole bytes; less than a bit is 0.
std::optional<Bytes> parse_rate(std::string_view text);

/// "300ms", "2s", "5m", "1h", "7d", "1.5h"; only "0" needs no unit. At most 100 years.
std::optional<milliseconds> parse_time(std::string_view text);

/// The exact form with the smallest number, which parses to the same value: "64 MiB", "10 GB", "4097".
std::string size_text(Bytes);
/// In bits if that is a whole number of kbit/s, otherwise the form with the smallest number; parses to the same value: "900
/// Mbit/s", "12 MiB/s".
std::string rate_text(Bytes);
/// "5m", "1500ms", "0s". Must not be negative.
std::string time_text(milliseconds);

}   // namespace garner
