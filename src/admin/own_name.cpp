#include "admin/own_name.hpp"

#include <algorithm>

#include "http/uri.hpp"
#include "util/text.hpp"

namespace garner::admin {

bool is_own_name(std::string_view host, IpEndpoint const& own, std::span<std::string const> names) {
    http::UriError error;
    auto const authority = http::parse_authority(host, error);
    auto const is_it = [&](std::string const& name) { return equals_ignoring_case(name, authority->host); };
    if (authority && std::ranges::any_of(names, is_it)) return true;
    auto const address = authority ? parse_ip(authority->host) : std::nullopt;
    if (!address) return false;
    std::uint16_t const port = authority->port ? authority->port : 80;
    return IpEndpoint{*address, port} == own;
}

}   // namespace garner::admin
