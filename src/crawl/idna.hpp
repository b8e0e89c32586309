// International domain names to ASCII: UTS #46, non-transitional, as the URL Standard asks for it.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace garner::crawl {

/// Punycode takes time with the square of a label's length; DNS has 255 bytes.
inline constexpr std::size_t idna_bytes_max = 2048;

/// Appends the ASCII form of a name in UTF-8 of at most idna_bytes_max bytes: CheckBidi and CheckJoiners, no STD3
/// rules, no check of hyphens and lengths. False, with nothing appended, when UTS #46 refuses it. The tables are those
/// of the installed ICU. Any thread.
bool append_ascii_domain(std::string_view name, std::string& to);

}  // namespace garner::crawl
