#include "net/address_order.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "net/address.hpp"

namespace garner::net {
namespace {

/// A row of the policy table (RFC 6724 2.1).
struct Policy {
    IpNetwork network;
    int precedence, label;
};

IpNetwork network_of(char const* text) { return *parse_network(text); }

Policy const& policy_of(IpAddress const& address) {
    // The longest prefix comes first.
    static std::array const table{
        Policy{network_of("::1/128"), 50, 0},   Policy{network_of("::ffff:0:0/96"), 35, 4}, Policy{network_of("::/96"), 1, 3},
        Policy{network_of("2001::/32"), 5, 5},  Policy{network_of("2002::/16"), 30, 2},     Policy{network_of("3ffe::/16"), 1, 12},
        Policy{network_of("fec0::/10"), 1, 11}, Policy{network_of("fc00::/7"), 3, 13},      Policy{network_of("::/0"), 40, 1}};
    return *std::ranges::find_if(table, [&](Policy const& row) { return row.network.contains(address); });
}

/// RFC 6724 3.1 and 3.2: 2 is link-local, 5 site-local, 14 global.
int scope_of(IpAddress const& address) {
    static auto const link_local4 = network_of("169.254.0.0/16"), link_local6 = network_of("fe80::/10"),
                      site_local = network_of("fec0::/10");
    if (address.is_loopback() || link_local4.contains(address) || link_local6.contains(address)) return 2;
    return site_local.contains(address) ? 5 : 14;
}

int common_bits(IpAddress const& a, IpAddress const& b) {
    int bits = 0;
    for (std::size_t i = 0; i < a.bytes.size(); ++i) {
        auto const other = static_cast<std::uint8_t>(a.bytes[i] ^ b.bytes[i]);
        bits += std::countl_zero(other);
        if (other != 0) break;
    }
    return bits;
}

/// The values that are compared one after another; the smaller one comes first.
std::array<int, 6> rank(Destination const& one) {
    if (!one.source) return {1, 0, 0, 0, 0, 0};
    auto const scope = scope_of(one.address);
    auto const& policy = policy_of(one.address);
    bool const other_scope = scope_of(*one.source) != scope, other_label = policy_of(*one.source).label != policy.label;
    // Rule 9 says nothing about IPv4, where prefixes are no measure of distance.
    int const common = one.address.is_v4() ? 0 : common_bits(one.address, *one.source);
    return {0, other_scope, other_label, -policy.precedence, scope, -common};
}

std::optional<IpAddress> source_for(IpAddress const& address) {
    int const family = address.is_v4() ? AF_INET : AF_INET6;
    int const socket = ::socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (socket < 0) return std::nullopt;
    sockaddr_storage at{};
    socklen_t size = sizeof at;
    constexpr std::uint16_t any_port = 443;
    if (address.is_v4()) {
        auto& v4 = reinterpret_cast<sockaddr_in&>(at);
        v4.sin_family = AF_INET;
        v4.sin_port = htons(any_port);
        std::memcpy(&v4.sin_addr, address.bytes.data() + 12, 4);
        size = sizeof v4;
    } else {
        auto& v6 = reinterpret_cast<sockaddr_in6&>(at);
        v6.sin6_family = AF_INET6;
        v6.sin6_port = htons(any_port);
        std::memcpy(&v6.sin6_addr, address.bytes.data(), address.bytes.size());
        size = sizeof v6;
    }
    bool const has_route = ::connect(socket, reinterpret_cast<sockaddr*>(&at), size) == 0 &&
                           ::getsockname(socket, reinterpret_cast<sockaddr*>(&at), &size) == 0;
    ::close(socket);
    return has_route ? to_ip(reinterpret_cast<sockaddr const&>(at)) : std::nullopt;
}

}   // namespace

void sort_destinations(std::vector<Destination>& all) { std::ranges::stable_sort(all, {}, rank); }

std::vector<Destination> with_sources(std::vector<IpAddress> const& addresses) {
    std::vector<Destination> all;
    for (auto const& address : addresses) all.push_back({address, source_for(address)});
    return all;
}

}   // namespace garner::net
