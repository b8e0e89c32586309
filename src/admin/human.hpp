// Numbers in readable form.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace garner::admin {

std::string human_count(std::uint64_t);           // "1,234,567"
std::string human_short(std::uint64_t);           // a count: "999", "1.23k", "12.3k", "1.23M"
std::string human_bytes(std::uint64_t);           // "17 B", "1.5 KiB", "12.3 GiB"
std::string human_micros(std::uint64_t micros);   // "340 µs", "1.25 ms", "12.5 s"
std::string human_share(std::optional<double>);   // a ratio: "12.3 %", "-"
std::string human_seconds(double seconds);        // "42 s", "3 min 5 s", "2 h 10 min", "5 d 3 h"

/// Makes text from origins and clients safe for a terminal: control characters become '?', including C1 characters in
/// UTF-8. Newlines are kept.
std::string printable(std::string);

/// The width on a terminal, where a non-ASCII character also takes one column.
std::size_t columns(std::string_view);
/// Truncated to this many columns, with "…" at the end.
std::string cut(std::string const& text, std::size_t width);

}   // namespace garner::admin
