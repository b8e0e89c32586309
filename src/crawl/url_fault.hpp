// Errors for texts that are not fetchable URLs.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace garner::crawl {

enum class UrlFault : std::uint8_t {
    none,
    empty,       // nothing but spaces and control characters, and no base
    too_long,    // more than url_bytes_max
    no_scheme,   // a relative reference, and no base
    file_scheme,
    other_scheme,   // none of http, https, ws, wss, ftp
    no_host,
    host_too_long,       // an international name of more than idna_bytes_max
    forbidden_in_host,   // a character that is forbidden in hosts
    bad_idna,            // UTS #46 rejects the international name
    bad_ipv4,            // ends in a number but is no IPv4 address
    bad_ipv6,
    bad_port,         // not a number
    port_too_large,   // above 65535
};
inline constexpr int url_fault_count = static_cast<int>(UrlFault::port_too_large) + 1;

/// The names used by `garner seen canon`: "too-long". "none" for none.
constexpr std::string_view name_of(UrlFault fault) {
    constexpr std::array<std::string_view, url_fault_count> names{
        "none",         "empty",    "too-long",      "no-scheme",         "file-scheme",
        "other-scheme", "no-host",  "host-too-long", "forbidden-in-host", "bad-idna",
        "bad-ipv4",     "bad-ipv6", "bad-port",      "port-too-large",
    };
    return names[static_cast<std::size_t>(fault)];
}

}   // namespace garner::crawl
