// The destinations that are blocked unless a rule opens them, in every form that embeds an IPv4 address in IPv6.
#include <algorithm>
#include <cstring>

#include "http/access_rules.hpp"

namespace garner::http {
namespace {

constexpr char const* own_listener = "destination is this proxy itself";

bool begins_with(IpAddress const& address, std::initializer_list<std::uint8_t> prefix) {
    return std::equal(prefix.begin(), prefix.end(), address.bytes.begin());
}

IpAddress v4_at(IpAddress const& address, std::size_t offset) {
    auto const* at = address.bytes.data() + offset;
    return IpAddress::v4(at[0], at[1], at[2], at[3]);
}

/// Calls test(address) for each IPv4 address that a packet to this IPv6 address may reach; true when one call is true.
template <class Test>
bool any_embedded(IpAddress const& address, Test&& test) {
    auto const& b = address.bytes;
    if (address.is_v4()) return false;
    if (begins_with(address, {0, 0, 0, 0, 0, 0, 0, 0})) {
        // RFC 4291 2.5.5.1 (v4-compatible) and RFC 6052's ancestor ::ffff:0:a.b.c.d (RFC 2765).
        bool const compatible = b[8] == 0 && b[9] == 0 && b[10] == 0 && b[11] == 0;
        bool const translated = b[8] == 0xff && b[9] == 0xff && b[10] == 0 && b[11] == 0;
        return (compatible || translated) && test(v4_at(address, 12));
    }
    if (begins_with(address, {0x00, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0})) return test(v4_at(address, 12));
    if (begins_with(address, {0x00, 0x64, 0xff, 0x9b, 0, 1})) {
        // A local NAT64 prefix of any length (RFC 8215): RFC 6052 2.2 leaves byte 8 out in a /48, /56 and /64.
        IpAddress const in_48 = IpAddress::v4(b[6], b[7], b[9], b[10]);
        IpAddress const in_56 = IpAddress::v4(b[7], b[9], b[10], b[11]);
        return test(v4_at(address, 12)) || test(in_48) || test(in_56) || test(v4_at(address, 9));
    }
    if (begins_with(address, {0x20, 0x02})) return test(v4_at(address, 2));
    if (begins_with(address, {0x20, 0x01, 0, 0})) {
        IpAddress client = v4_at(address, 12);   // Teredo writes it inverted (RFC 4380 4)
        for (std::size_t i = 12; i < 16; ++i) client.bytes[i] ^= 0xff;
        return test(client) || test(v4_at(address, 4));
    }
    return false;
}

char const* closed_v4(IpAddress const& address) {
    auto const first = address.bytes[12];
    if (first == 0) return "destination in 0.0.0.0/8";
    if (first == 127) return "destination on loopback";
    if (first == 169 && address.bytes[13] == 254) return "destination is link-local";
    return nullptr;
}

char const* closed_v6(IpAddress const& address) {
    if (address.is_unspecified()) return "destination is the unspecified address";
    if (address.is_loopback()) return "destination on loopback";
    if (address.bytes[0] == 0xfe && (address.bytes[1] & 0xc0) == 0x80) return "destination is link-local";
    return nullptr;
}

constexpr char const* is_private = "destination is in a private network (private_networks)";
constexpr char const* is_special = "destination is in a network for special use (private_networks)";

struct SpecialNetwork {
    IpNetwork network;
    char const* why;
};

constexpr SpecialNetwork v4_network(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d, unsigned bits,
                                    char const* why) {
    return {{IpAddress::v4(a, b, c, d), static_cast<std::uint8_t>(96 + bits)}, why};
}

constexpr SpecialNetwork v6_network(std::uint16_t first, std::uint16_t second, std::uint8_t bits, char const* why) {
    std::array<std::uint8_t, 16> bytes{};
    bytes[0] = static_cast<std::uint8_t>(first >> 8);
    bytes[1] = static_cast<std::uint8_t>(first);
    bytes[2] = static_cast<std::uint8_t>(second >> 8);
    bytes[3] = static_cast<std::uint8_t>(second);
    return {{IpAddress::v6(bytes), bits}, why};
}

// IANA's special-purpose address registries (RFC 6890), and the metadata addresses of cloud providers.
constexpr SpecialNetwork special_networks[]{
    v4_network(10, 0, 0, 0, 8, is_private),
    v4_network(172, 16, 0, 0, 12, is_private),
    v4_network(192, 168, 0, 0, 16, is_private),
    v4_network(100, 64, 0, 0, 10, is_private),      // RFC 6598; includes Alibaba's 100.100.100.200
    v4_network(168, 63, 129, 16, 32, is_special),   // Azure
    v4_network(192, 0, 0, 0, 24, is_special),
    v4_network(192, 0, 2, 0, 24, is_special),   // documentation, with the next two (RFC 5737)
    v4_network(198, 51, 100, 0, 24, is_special),
    v4_network(203, 0, 113, 0, 24, is_special),
    v4_network(198, 18, 0, 0, 15, is_special),    // benchmarks (RFC 2544)
    v4_network(192, 88, 99, 0, 24, is_special),   // 6to4 relays (RFC 7526)
    v4_network(224, 0, 0, 0, 3, is_special),      // multicast, reserved, broadcast
    v6_network(0xfc00, 0, 7, is_private),         // includes fd00:ec2::254
    v6_network(0xfec0, 0, 10, is_private),        // site-local (RFC 3879)
    v6_network(0xff00, 0, 8, is_special),         // multicast
    v6_network(0x0100, 0, 64, is_special),        // discard (RFC 6666)
    v6_network(0x2001, 0x0002, 48, is_special),   // benchmarks (RFC 5180)
    v6_network(0x2001, 0x0010, 28, is_special),   // ORCHID (RFC 4843)
    v6_network(0x2001, 0x0db8, 32, is_special),   // documentation
    v6_network(0x3fff, 0, 20, is_special),        // documentation (RFC 9637)
    v6_network(0x5f00, 0, 16, is_special),        // segment routing (RFC 9602)
};

bool is_local_nat64(IpAddress const& address) { return begins_with(address, {0x00, 0x64, 0xff, 0x9b, 0, 1}); }

char const* special_use(IpAddress const& address) {
    for (auto const& special : special_networks)
        if (special.network.contains(address)) return special.why;
    return is_local_nat64(address) ? is_special : nullptr;
}

bool same_or_embedded(IpAddress const& address, IpAddress const& wanted) {
    return address == wanted || any_embedded(address, [&](IpAddress const& inner) { return inner == wanted; });
}

bool is_local(IpAddress const& address, OwnAddresses const& own) {
    auto const local = [&](IpAddress const& one) {
        return one.is_loopback() || one.is_unspecified() ||
               std::find(own.interfaces.begin(), own.interfaces.end(), one) != own.interfaces.end();
    };
    return local(address) || any_embedded(address, local);
}

/// A connection to `address` reaches a socket that listens on `place`, at the same port.
bool reaches(IpAddress const& address, IpAddress const& place, OwnAddresses const& own) {
    if (place.is_unspecified()) return is_local(address, own);
    // A connection to the unspecified address reaches a listener on loopback.
    if (place.is_loopback() && address.is_unspecified()) return true;
    return same_or_embedded(address, place);
}

}   // namespace

bool is_own_listener(IpAddress const& address, std::uint16_t port, OwnAddresses const& own) {
    for (auto const& place : own.listening)
        if (place.port == port && reaches(address, place.address, own)) return true;
    return false;
}

bool are_own_listeners(std::span<IpAddress const> addresses, std::uint16_t port, OwnAddresses const& own) {
    auto const is_own = [&](IpAddress const& address) { return is_own_listener(address, port, own); };
    return !addresses.empty() && std::all_of(addresses.begin(), addresses.end(), is_own);
}

char const* closed_destination(IpAddress const& address, std::span<IpAddress const> own) {
    if (char const* why = address.is_v4() ? closed_v4(address) : closed_v6(address)) return why;
    if (any_embedded(address, [](IpAddress const& inner) { return closed_v4(inner) != nullptr; }))
        return "destination contains a blocked IPv4 address";
    auto const is_own = [&](IpAddress const& one) { return same_or_embedded(address, one); };
    if (std::any_of(own.begin(), own.end(), is_own)) return "destination is this machine";
    return nullptr;
}

char const* private_destination(IpAddress const& address) {
    char const* why = special_use(address);
    if (why) return why;
    any_embedded(address, [&](IpAddress const& inner) { return (why = special_use(inner)) != nullptr; });
    return why;
}

Decision AccessRules::permits(RuleRequest const& request, IpAddress const& destination, OwnAddresses const& own,
                              bool private_closed) const {
    Decision decision = decide(request, destination);
    if (!decision.allowed()) return decision;

    char const* closed = nullptr;
    if (is_own_listener(destination, request.port, own))
        closed = own_listener;   // blocked even if a rule allows it: it would loop, or purge in the proxy's own name
    else if (!decision.opens_address)
        closed = closed_destination(destination, own.interfaces);
    if (!closed && private_closed && !decision.opens_address) closed = private_destination(destination);
    if (!closed) return decision;

    decision.verdict = Decision::Verdict::deny;
    decision.closed = closed;
    return decision;
}

}   // namespace garner::http
