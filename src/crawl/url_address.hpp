// Hosts that are addresses, as the URL Standard reads and writes them beyond util/ip: IPv4 in one to four decimal, octal or
// hexadecimal numbers, IPv6 in pieces alone.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "util/ip.hpp"

namespace garner::crawl {

/// Whether a host is an IPv4 address or nothing at all: its last label is a number.
bool ends_in_number(std::string_view host);

/// In host order. "0x7f.1" is 127.0.0.1; a trailing dot is allowed.
std::optional<std::uint32_t> parse_ipv4(std::string_view host);

/// Without brackets. Of the runs of two or more zeros the longest becomes "::", of equals the first. No part is written as IPv4, as
/// RFC 5952 would have it.
void append_ipv6(IpAddress const& address, std::string& to);

}  // namespace garner::crawl
