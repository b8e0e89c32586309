// The proxy auto-configuration file (PAC), by which browsers choose a proxy for each URL. Pure.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/options.hpp"
#include "util/bytes.hpp"

namespace garner::proxy {

inline constexpr Bytes pac_max = 8 * KiB;

/// The file with these proxies, in this order. It compares texts only: a PAC file that resolves names blocks the browser.
std::string pac_text(PacOptions const& options, std::span<PacProxy const> proxies);

/// The size of the largest file that these options make.
Bytes largest_pac(PacOptions const& options);

/// The proxies for the file: all except those that are `out`. If that leaves none, all, unless the file ends with DIRECT.
std::vector<PacProxy> usable_proxies(std::vector<PacProxy> all, std::vector<bool> const& out, bool last_direct);

/// The proxy as the client has named it in Host, or `fallback` if that is no plain host name or address.
PacProxy reached_proxy(std::string_view host, std::uint16_t port, bool secure, IpEndpoint const& fallback);

/// True for a host that a PAC file may name: letters, digits, '.', '-', '_', and ':' of IPv6.
bool is_pac_host(std::string_view host);

}   // namespace garner::proxy
