// IP addresses and networks: text forms.
#include "util/ip.hpp"

#include <arpa/inet.h>

#include <charconv>
#include <cstring>

#include "util/text.hpp"

namespace garner {

IpAddress IpAddress::v4(std::uint32_t host_order) {
    return v4(static_cast<std::uint8_t>(host_order >> 24), static_cast<std::uint8_t>(host_order >> 16),
              static_cast<std::uint8_t>(host_order >> 8), static_cast<std::uint8_t>(host_order));
}

namespace {

/// inet_ntop() and inet_pton() take three times as long, and each request needs the text of an address.
std::string v4_text(std::uint8_t const* four) {
    char out[INET_ADDRSTRLEN];
    auto* end = out;
    for (int i = 0; i < 4; ++i) {
        if (i > 0) *end++ = '.';
        end = std::to_chars(end, out + sizeof out, four[i]).ptr;
    }
    return {out, end};
}

/// Four numbers without leading zeros.
std::optional<IpAddress> parse_v4(std::string_view text) {
    std::uint8_t four[4];
    for (int i = 0; i < 4; ++i) {
        unsigned value = 0;
        std::size_t digits = 0;
        for (; digits < text.size() && is_digit(text[digits]) && digits < 4; ++digits)
            value = 10 * value + static_cast<unsigned>(text[digits] - '0');
        bool const ends = i == 3 ? digits == text.size() : digits < text.size() && text[digits] == '.';
        if (digits == 0 || value > 255 || (digits > 1 && text[0] == '0') || !ends) return std::nullopt;
        four[i] = static_cast<std::uint8_t>(value);
        text.remove_prefix(i == 3 ? digits : digits + 1);
    }
    return IpAddress::v4(four[0], four[1], four[2], four[3]);
}

}   // namespace

std::string IpAddress::text() const {
    if (is_v4()) return v4_text(bytes.data() + 12);
    char out[INET6_ADDRSTRLEN];
    return inet_ntop(AF_INET6, bytes.data(), out, sizeof out);
}

std::optional<IpAddress> parse_ip(std::string_view text) {
    if (text.find(':') == text.npos) return parse_v4(text);
    char terminated[INET6_ADDRSTRLEN];
    if (text.size() >= sizeof terminated || text.find('\0') != text.npos) return std::nullopt;
    std::memcpy(terminated, text.data(), text.size());
    terminated[text.size()] = '\0';
    IpAddress address;
    if (inet_pton(AF_INET6, terminated, address.bytes.data()) != 1) return std::nullopt;
    return address;
}

std::string IpNetwork::text() const {
    if (prefix == 128) return address.text();
    if (address.is_v4() && prefix >= 96) return address.text() + "/" + std::to_string(prefix - 96);
    return address.text() + "/" + std::to_string(prefix);
}

std::optional<IpNetwork> parse_network(std::string_view text) {
    auto const slash = text.find('/');
    auto const written = text.substr(0, slash);
    auto const address = parse_ip(written);
    if (!address) return std::nullopt;
    if (slash == text.npos) return IpNetwork{*address, 128};

    bool const dotted = written.find(':') == written.npos;
    auto const bits = parse_decimal(text.substr(slash + 1));
    if (!bits || *bits > (dotted ? 32u : 128u)) return std::nullopt;
    auto const prefix = static_cast<std::uint8_t>(*bits + (dotted ? 96 : 0));

    IpNetwork network{*address, prefix};
    for (unsigned bit = prefix; bit < 128; ++bit)
        if ((address->bytes[bit / 8] >> (7 - bit % 8)) & 1) return std::nullopt;
    return network;
}

std::string IpEndpoint::text() const {
    auto const host = address.is_v4() ? address.text() : "[" + address.text() + "]";
    return host + ":" + std::to_string(port);
}

}   // namespace garner
