// Hosts that are addresses, in the forms of the URL Standard that util/ip lacks: IPv4 in one to four decimal, octal
// or hexadecimal numbers, IPv6 without a dotted part.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "util/ip.hpp"

namespace garner::crawl {

/// True for an IPv4 address, valid or not: its last label is a number.
bool ends_in_number(std::string_view host);

/// In host order. "0x7f.1" is 127.0.0.1; a trailing dot is allowed.
std::optional<std::uint32_t> parse_ipv4(std::string_view host);

/// Without brackets. The longest run of two or more zeros becomes "::", the first one if several are equal. No part
/// is written as IPv4, unlike RFC 5952.
void append_ipv6(IpAddress const& address, std::string& to);

}   // namespace garner::crawl
