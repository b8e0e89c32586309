// Hosts that are addresses, as the URL Standard reads and writes them: IPv4 in one to four decimal, octal or
// hexadecimal numbers, IPv6 in brackets.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace garner::crawl {

/// Whether a host is an IPv4 address or nothing at all: its last label is a number.
bool ends_in_number(std::string_view host);

/// In host order. "0x7f.1" is 127.0.0.1; a trailing dot is allowed.
std::optional<std::uint32_t> parse_ipv4(std::string_view host);
void append_ipv4(std::uint32_t address, std::string& to);

using Ipv6 = std::array<std::uint16_t, 8>;

/// Without brackets; no zone.
std::optional<Ipv6> parse_ipv6(std::string_view text);

/// Without brackets; the longest run of two or more zeros, of equals the first, becomes "::".
void append_ipv6(Ipv6 const& address, std::string& to);

}  // namespace garner::crawl
