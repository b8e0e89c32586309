// IP addresses and networks as values; IPv4 is stored v4-mapped (RFC 4291 2.5.5.2), so that one form is compared.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace garner {

/// An IPv4 or IPv6 address, 16 bytes in network order. The default is "::".
struct IpAddress {
    std::array<std::uint8_t, 16> bytes{};

    static IpAddress v4(std::uint32_t host_order);
    static constexpr IpAddress v4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) {
        return {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d}};
    }
    static constexpr IpAddress v6(std::array<std::uint8_t, 16> const& network_order) { return {network_order}; }

    /// The address as two numbers, the first bits in the first. The access rules compare them for each request.
    constexpr std::array<std::uint64_t, 2> halves() const {
        auto halves = std::bit_cast<std::array<std::uint64_t, 2>>(bytes);
        if constexpr (std::endian::native == std::endian::little)
            for (auto& half : halves) half = __builtin_bswap64(half);
        return halves;
    }

    /// Also true for a v4-mapped address written as IPv6: it is the same host.
    constexpr bool is_v4() const {
        for (int i = 0; i < 10; ++i)
            if (bytes[i] != 0) return false;
        return bytes[10] == 0xff && bytes[11] == 0xff;
    }

    /// 127.0.0.0/8 and ::1.
    constexpr bool is_loopback() const {
        if (is_v4()) return bytes[12] == 127;
        for (int i = 0; i < 15; ++i)
            if (bytes[i] != 0) return false;
        return bytes[15] == 1;
    }

    /// 0.0.0.0 and "::".
    constexpr bool is_unspecified() const {
        for (int i = 0; i < 10; ++i)
            if (bytes[i] != 0) return false;
        bool const mapped = bytes[10] == 0xff && bytes[11] == 0xff;
        if (!mapped && (bytes[10] != 0 || bytes[11] != 0)) return false;
        return (bytes[12] | bytes[13] | bytes[14] | bytes[15]) == 0;
    }

    /// Dotted decimal for IPv4, RFC 5952 for IPv6, no brackets.
    std::string text() const;

    friend constexpr auto operator<=>(IpAddress const&, IpAddress const&) = default;
};

/// The address with all but its first bits zero: `bits4` of an IPv4 address (0 to 32), `bits6` of an IPv6 address (0 to 128).
constexpr IpAddress first_bits(IpAddress address, unsigned bits4, unsigned bits6) {
    unsigned const kept = address.is_v4() ? 96 + bits4 : bits6;
    for (unsigned i = 0; i < 16; ++i) {
        unsigned const here = kept <= 8 * i ? 0 : std::min(kept - 8 * i, 8u);
        address.bytes[i] &= static_cast<std::uint8_t>(0xff00u >> here);
    }
    return address;
}

/// "10.0.0.1" or "::1": no brackets, no zone, no port, no shortened or octal IPv4.
std::optional<IpAddress> parse_ip(std::string_view text);

/// An address and its number of significant leading bits.
struct IpNetwork {
    IpAddress address;           // the bits after the prefix are zero
    std::uint8_t prefix = 128;   // of 128: an IPv4 /8 is 96 + 8

    constexpr bool contains(IpAddress const& other) const {
        constexpr auto mask = [](unsigned bits) { return bits == 0 ? 0 : ~std::uint64_t{0} << (64 - bits); };
        auto const mine = address.halves(), theirs = other.halves();
        unsigned const first = prefix < 64 ? prefix : 64;
        return (((mine[0] ^ theirs[0]) & mask(first)) | ((mine[1] ^ theirs[1]) & mask(prefix - first))) == 0;
    }

    /// "10.0.0.0/8"; a whole address without its "/32" or "/128".
    std::string text() const;

    friend constexpr bool operator==(IpNetwork const&, IpNetwork const&) = default;
};

/// True when one of the networks contains the address.
inline bool is_among(IpAddress const& address, std::span<IpNetwork const> networks) {
    return std::ranges::any_of(networks, [&](IpNetwork const& network) { return network.contains(address); });
}

/// "10.0.0.0/8", "2001:db8::/32", or one address. Bits set after the prefix ("10.0.0.1/8") are refused: either the address
/// or the prefix is mistyped. "::/0" is every address, including IPv4; "0.0.0.0/0" is every IPv4 address.
std::optional<IpNetwork> parse_network(std::string_view text);

/// An address and a port.
struct IpEndpoint {
    IpAddress address;
    std::uint16_t port = 0;
    /// "127.0.0.1:3128", "[::1]:3128".
    std::string text() const;
    friend constexpr bool operator==(IpEndpoint const&, IpEndpoint const&) = default;
};

}   // namespace garner
