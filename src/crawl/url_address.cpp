#include "crawl/url_address.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cstdio>

#include "crawl/url_bytes.hpp"

namespace garner::crawl {
namespace {

/// One number of an IPv4 address; saturates at 2^32.
std::optional<std::uint64_t> parse_ipv4_number(std::string_view text) {
    if (text.empty()) return std::nullopt;
    unsigned base = 10;
    if (text.size() >= 2 && text[0] == '0') {
        bool const hexadecimal = (text[1] | 0x20) == 'x';
        base = hexadecimal ? 16 : 8;
        text.remove_prefix(hexadecimal ? 2 : 1);
    }
    constexpr std::uint64_t beyond = std::uint64_t{1} << 32;
    std::uint64_t value = 0;
    for (char c : text) {
        int const digit = hex_value(c);
        if (digit < 0 || static_cast<unsigned>(digit) >= base) return std::nullopt;
        value = std::min(value * base + static_cast<unsigned>(digit), beyond);
    }
    return value;
}

std::string_view without_last_dot(std::string_view host) {
    if (host.ends_with('.')) host.remove_suffix(1);
    return host;
}

}   // namespace

bool ends_in_number(std::string_view host) {
    auto const whole = without_last_dot(host);
    if (whole.empty()) return false;
    auto const label = whole.substr(whole.rfind('.') + 1);
    if (label.empty() || !is_digit(label.front())) return false;
    return std::ranges::all_of(label, is_digit) || parse_ipv4_number(label);
}

std::optional<std::uint32_t> parse_ipv4(std::string_view host) {
    auto text = without_last_dot(host);
    std::uint64_t address = 0;
    for (int left = 3;; --left) {
        auto const dot = std::min(text.find('.'), text.size());
        auto const number = parse_ipv4_number(text.substr(0, dot));
        if (!number || left < 0) return std::nullopt;
        if (dot == text.size()) {
            // The last number fills all remaining bytes.
            if (*number >> 8 * (left + 1)) return std::nullopt;
            return static_cast<std::uint32_t>(address | *number);
        }
        if (*number > 255) return std::nullopt;
        address |= *number << 8 * left;
        text.remove_prefix(dot + 1);
    }
}

void append_ipv6(IpAddress const& address, std::string& to) {
    char text[INET6_ADDRSTRLEN];
    inet_ntop(AF_INET6, address.bytes.data(), text, sizeof text);
    std::string_view const written(text);
    if (written.find('.') == written.npos) return void(to.append(written));
    // RFC 5952 writes the last 32 bits of some addresses as IPv4; the URL Standard never does.
    auto const* const last = address.bytes.data() + 12;
    std::snprintf(text + written.rfind(':') + 1, 10, "%x:%x", last[0] << 8 | last[1], last[2] << 8 | last[3]);
    to.append(text);
}

}   // namespace garner::crawl
