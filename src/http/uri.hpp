// Request targets and http(s) URIs (RFC 9110 4.2, RFC 9112 3.2, RFC 3986): validated, as views.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace garner::http {

enum class Scheme : std::uint8_t { http, https };

constexpr std::uint16_t default_port(Scheme scheme) { return scheme == Scheme::https ? 443 : 80; }

/// An authority: host and port. `host` is a reg-name, an IPv4 address, or an IPv6 address without its brackets.
struct Authority {
    std::string_view host;
    std::uint16_t port = 0;   // 0: none was written
    bool ipv6 = false;        // was written in brackets

    friend bool operator==(Authority const&, Authority const&) = default;
};

/// An absolute http or https URI. Views into the text it was parsed from.
struct Uri {
    Scheme scheme = Scheme::http;
    Authority authority;               // port filled in: never 0
    std::string_view path_and_query;   // begins with '/'; "/" when the URI has no path (a query alone: see `bare_query`)
    bool bare_query = false;           // "http://host?q": path_and_query is "?q" and a '/' goes before it

    friend bool operator==(Uri const&, Uri const&) = default;
};

struct UriError {
    char const* refusal = nullptr;   // a literal, e.g. "userinfo in target"
};

/// Absolute-form (RFC 9112 3.2.2). Refuses other schemes, userinfo, fragment, empty host, bytes that RFC 3986 forbids, bad
/// percent-escapes in the host, ports 0 and above 65535, and IPv6 without brackets. Bytes that browsers send unescaped in
/// path and query, `"<>[\]^`{|}` and high bytes, are accepted unchanged; control bytes, space and DEL never are. An empty
/// port ("host:") is none; hosts longer than 255 bytes are refused. So are other spellings of an IPv4 address than the
/// dotted decimal one (RFC 3986 3.2.2): is_mistaken_ipv4, and an IPv6 address that maps one.
std::optional<Uri> parse_absolute(std::string_view target, UriError&);
std::optional<Uri> parse_absolute(std::string_view target);

/// host [":" port], as in a Host field or an authority-form target. Equally strict.
std::optional<Authority> parse_authority(std::string_view text, UriError&);
std::optional<Authority> parse_authority(std::string_view text);

/// True for a host that ends in a number (digits, or hex after "0x"; ignoring one final dot) and is no dotted decimal IPv4
/// address: "127.1", "0177.0.0.1", "2130706433". Resolvers and browsers read these as addresses; no such names exist.
bool is_mistaken_ipv4(std::string_view host);

/// True for a usable origin-form target ("/path?query").
bool is_origin_form(std::string_view target);

/// The target begins with a known scheme that is neither http nor https: ftp, ws or wss.
bool has_unsupported_scheme(std::string_view target);

/// Appends a URL as decoded by a reader of percent-escapes (RFC 3986 6.2.2): escapes of letters, digits and "-._~" are
/// decoded, also when their '%' is itself escaped ("%2561"); the hex digits of others are in upper case. For rules.
void append_unescaped(std::string_view url, std::string& out);

/// "http" or "https"
std::string_view text(Scheme);

/// Appends the normal form used in cache keys and logs: lower-case scheme and host, no escapes of unreserved characters in
/// the host, no default port, "/" for no path. Path and query stay byte for byte. Equal normal forms mean equivalent URIs
/// (RFC 9110 4.2.3).
void append_normalised(Uri const&, std::string& out);

/// The host alone, in brackets when it is an IPv6 address: lower case, without escapes of unreserved characters.
void append_host(Authority const&, std::string& out);

/// "host" or "host:port" in the form of a Host field: the host as above, no default port, IPv6 in brackets.
void append_host(Uri const&, std::string& out);

/// True when both name the same scheme, host (any case) and port.
bool same_origin(Uri const&, Uri const&);

/// Resolves a Location or Content-Location value (absolute URI, "//authority…", "/path", or relative path with dot
/// segments, RFC 3986 5.2) against `base`; the normal form, or nothing when it is not a http(s) URI.
std::optional<std::string> resolve(Uri const& base, std::string_view reference);

}   // namespace garner::http
