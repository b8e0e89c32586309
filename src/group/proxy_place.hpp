// The address of a member's proxy, as text in messages.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "util/ip.hpp"
#include "util/text.hpp"

namespace garner::group {

/// Reads what IpEndpoint::text() writes. Nothing for any other text, and for port 0. Pure.
inline std::optional<IpEndpoint> proxy_place_in(std::string_view text) {
    auto const colon = text.rfind(':');
    if (colon == text.npos) return std::nullopt;
    auto host = text.substr(0, colon);
    bool const is_bracketed = host.starts_with('[') && host.ends_with(']');
    if (is_bracketed) host = host.substr(1, host.size() - 2);
    auto const address = parse_ip(host);
    auto const port = parse_decimal(text.substr(colon + 1));
    if (!address || !port || *port == 0 || *port > 65'535 || is_bracketed == address->is_v4()) return std::nullopt;
    return IpEndpoint{*address, static_cast<std::uint16_t>(*port)};
}

/// The address of a proxy for other machines; empty: they cannot reach it. A proxy that listens on all addresses is at the one that its
/// connection comes from. Pure.
inline std::string reachable_address(std::string const& told, IpAddress const& from) {
    auto place = proxy_place_in(told);
    if (!place) return {};
    if (place->address.is_unspecified()) place->address = from;
    return place->address.is_loopback() && !from.is_loopback() ? std::string() : place->text();
}

}   // namespace garner::group
