#include "http/uri.hpp"

#include <algorithm>
#include <array>

#include "util/ip.hpp"
#include "util/text.hpp"

namespace garner::http {
namespace {

constexpr std::size_t longest_host = 255;   // RFC 1035 2.3.4, recommended by RFC 3986 3.2.2

/// unreserved and sub-delims (RFC 3986 2.2, 2.3).
constexpr auto host_bytes = [] {
    std::array<bool, 256> table{};
    for (char c = '\0'; c < '\x7f'; ++c)
        table[static_cast<std::size_t>(c)] =
            is_digit(c) || is_alpha(c) || (c != '\0' && std::string_view("-._~!$&'()*+,;=").find(c) != npos);
    return table;
}();

constexpr bool is_host_byte(char c) { return host_bytes[static_cast<unsigned char>(c)]; }

/// The byte of the percent-escape at the start of `text`, or -1 when there is no escape.
constexpr int escaped_byte(std::string_view text) {
    if (text.size() < 3 || text[0] != '%' || hex_value(text[1]) < 0 || hex_value(text[2]) < 0) return -1;
    return hex_value(text[1]) * 16 + hex_value(text[2]);
}

/// A percent-escape may encode a byte that a host may contain anyway, or part of a UTF-8 name; never a delimiter.
constexpr bool is_host_escape(std::string_view text) {
    int const byte = escaped_byte(text);
    return byte >= 0x80 || (byte >= 0 && is_host_byte(static_cast<char>(byte)));
}

constexpr bool is_unreserved(char c) { return is_digit(c) || is_alpha(c) || c == '-' || c == '.' || c == '_' || c == '~'; }

/// For the result of escaped_byte().
constexpr bool is_unreserved_byte(int byte) { return byte >= 0 && byte < 0x80 && is_unreserved(static_cast<char>(byte)); }

/// The byte of the escape at the start of `text` after repeated decoding of an escaped '%': "%41", "%2541". Sets `size` to
/// the length of the whole escape. -1 when `text` begins with no escape.
int nested_byte(std::string_view text, std::size_t& size) {
    size = 3;
    int byte = escaped_byte(text);
    while (byte == '%' && text.size() >= size + 2 && hex_value(text[size]) >= 0 && hex_value(text[size + 1]) >= 0) {
        byte = hex_value(text[size]) * 16 + hex_value(text[size + 1]);
        size += 2;
    }
    return byte;
}

/// RFC 3986 6.2.2: lower case, and without escapes of unreserved characters.
void append_host_name(std::string_view host, std::string& out) {
    if (host.find('%') == npos) return append_lower_case(host, out);
    while (!host.empty()) {
        int const byte = escaped_byte(host);
        bool const plain = is_unreserved_byte(byte);
        out += to_lower(plain ? static_cast<char>(byte) : host.front());
        host.remove_prefix(plain ? 3 : 1);
    }
}

bool same_host(std::string_view a, std::string_view b) {
    if (a.find('%') == npos && b.find('%') == npos) return equals_ignoring_case(a, b);
    std::string first, second;
    append_host_name(a, first);
    append_host_name(b, second);
    return first == second;
}

/// is_mistaken_ipv4 of the unescaped name.
bool is_mistaken_unescaped(std::string_view host) {
    if (host.find('%') == npos) return is_mistaken_ipv4(host);
    std::string name;
    append_host_name(host, name);
    return is_mistaken_ipv4(name);
}

char const* reg_name_fault(std::string_view host) {
    for (std::size_t i = 0; i < host.size(); ++i) {
        if (host[i] == '%') {
            if (!is_host_escape(host.substr(i))) return "bad percent-escape in host";
            i += 2;
        } else if (!is_host_byte(host[i])) {
            return "bad byte in host";
        }
    }
    return nullptr;
}

char const* ipv6_fault(std::string_view text) {
    for (char c : text)
        if (hex_value(c) < 0 && c != ':' && c != '.') return "bad IPv6 address";
    auto const address = text.find(':') == npos ? std::nullopt : parse_ip(text);
    if (!address) return "bad IPv6 address";
    // One spelling for each host: rules and keys compare hosts as text.
    return address->is_v4() ? "IPv4 address written as IPv6" : nullptr;
}

/// 0 when it is not a valid port.
std::uint16_t parse_port(std::string_view digits) {
    auto value = digits.size() <= 5 ? parse_decimal(digits) : std::nullopt;
    return value && *value <= 65535 ? static_cast<std::uint16_t>(*value) : std::uint16_t{0};
}

char const* parse_host(std::string_view host, bool ipv6) {
    if (host.empty()) return "empty host";
    if (host.size() > longest_host) return "host too long";
    if (ipv6) return ipv6_fault(host);
    return reg_name_fault(host);
}

char const* authority_fault(std::string_view text, Authority& authority) {
    if (text.find('@') != npos) return "userinfo in target";
    authority.ipv6 = text.starts_with('[');
    auto host_end = authority.ipv6 ? text.find(']') : text.find(':');
    if (authority.ipv6 && host_end == npos) return "bad IPv6 address";
    authority.host = authority.ipv6 ? text.substr(1, host_end - 1) : text.substr(0, host_end);
    if (auto fault = parse_host(authority.host, authority.ipv6)) return fault;
    auto rest = host_end == npos ? std::string_view() : text.substr(host_end + (authority.ipv6 ? 1 : 0));
    if (!authority.ipv6 && rest.find(':', 1) != npos) return "IPv6 address without brackets";
    if (!authority.ipv6 && is_mistaken_unescaped(authority.host)) return "bad IPv4 address";
    if (rest.empty() || rest == ":") return nullptr;
    if (rest[0] != ':') return "bad IPv6 address";
    authority.port = parse_port(rest.substr(1));
    return authority.port ? nullptr : "bad port";
}

char const* path_fault(std::string_view path) {
    for (char c : path) {
        if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f) return "control byte or space in target";
        if (c == '#') return "fragment in target";
    }
    return nullptr;
}

std::optional<Scheme> scheme_of(std::string_view text) {
    if (equals_ignoring_case(text, "http")) return Scheme::http;
    if (equals_ignoring_case(text, "https")) return Scheme::https;
    return std::nullopt;
}

bool is_websocket_scheme(std::string_view text) { return equals_ignoring_case(text, "ws") || equals_ignoring_case(text, "wss"); }

char const* fault_of_scheme(std::string_view text) {
    if (equals_ignoring_case(text, "ftp")) return "FTP is not supported: ask for an http or https URL";
    if (is_websocket_scheme(text)) return "a WebSocket URL: send CONNECT to its host and port, or the http URL with Upgrade";
    return "scheme is neither http nor https";
}

char const* absolute_fault(std::string_view target, Uri& uri) {
    auto colon = target.find(':');
    auto scheme = scheme_of(target.substr(0, colon));
    if (colon == npos || !scheme) return fault_of_scheme(target.substr(0, colon));
    auto rest = target.substr(colon + 1);
    if (!rest.starts_with("//")) return "no authority in target";
    rest.remove_prefix(2);
    auto authority_end = std::min(rest.find_first_of("/?#"), rest.size());
    if (auto fault = authority_fault(rest.substr(0, authority_end), uri.authority)) return fault;
    uri.scheme = *scheme;
    if (uri.authority.port == 0) uri.authority.port = default_port(*scheme);
    auto path = rest.substr(authority_end);
    uri.bare_query = path.starts_with('?');
    uri.path_and_query = path.empty() ? "/" : path;
    return path_fault(path);
}

/// RFC 3986 5.2.4. `path` begins with '/'.
std::string without_dot_segments(std::string_view path) {
    std::string out;
    while (!path.empty()) {
        auto end = std::min(path.find('/', 1), path.size());
        auto segment = path.substr(1, end - 1);
        path.remove_prefix(end);
        bool const last = path.empty();
        if (segment == "..") out.erase(std::min(out.rfind('/'), out.size()));
        if (segment == "." || segment == "..") {
            if (last) out += '/';
        } else {
            out += '/';
            out += segment;
        }
    }
    return out;
}

/// The colon that ends the reference's scheme; npos when it has none.
std::size_t scheme_end(std::string_view reference) {
    auto end = reference.find_first_of(":/?");
    if (end == npos || reference[end] != ':' || !is_alpha(reference.front())) return npos;
    for (char c : reference.substr(0, end))
        if (!is_alpha(c) && !is_digit(c) && c != '+' && c != '-' && c != '.') return npos;
    return end;
}

/// "http://host[:port]" in the normal form.
void append_origin(Uri const& uri, std::string& out) {
    out += text(uri.scheme);
    out += "://";
    append_host(uri, out);
}

/// The path of `base` up to and with its last '/'.
std::string_view directory(Uri const& base) {
    if (base.bare_query) return "/";
    auto path = base.path_and_query.substr(0, base.path_and_query.find('?'));
    return path.substr(0, path.rfind('/') + 1);
}

/// RFC 3986 5.2.2 for a reference without scheme and authority; dot segments stay.
std::string merged_path(Uri const& base, std::string_view reference) {
    if (reference.starts_with('/')) return std::string(reference);
    if (!reference.empty() && reference.front() != '?') return std::string(directory(base)).append(reference);
    std::string path = base.bare_query ? "/" : "";
    path += reference.empty() ? base.path_and_query : base.path_and_query.substr(0, base.path_and_query.find('?'));
    return path.append(reference);
}

}   // namespace

bool is_mistaken_ipv4(std::string_view host) {
    if (host.ends_with('.')) host.remove_suffix(1);
    auto label = host.substr(host.rfind('.') + 1);
    bool const hex = label.starts_with("0x") || label.starts_with("0X");
    if (hex) label.remove_prefix(2);
    bool const number = std::ranges::all_of(label, [&](char c) { return hex ? hex_value(c) >= 0 : is_digit(c); });
    return (hex || !label.empty()) && number && !parse_ip(host);
}

std::optional<Uri> parse_absolute(std::string_view target, UriError& error) {
    Uri uri;
    error.refusal = absolute_fault(target, uri);
    if (error.refusal) return std::nullopt;
    return uri;
}

std::optional<Uri> parse_absolute(std::string_view target) {
    UriError ignored;
    return parse_absolute(target, ignored);
}

std::optional<Authority> parse_authority(std::string_view text) {
    UriError ignored;
    return parse_authority(text, ignored);
}

std::optional<Authority> parse_authority(std::string_view text, UriError& error) {
    Authority authority;
    error.refusal = authority_fault(text, authority);
    if (error.refusal) return std::nullopt;
    return authority;
}

bool has_unsupported_scheme(std::string_view target) {
    auto const scheme = target.substr(0, target.find("://"));
    return equals_ignoring_case(scheme, "ftp") || is_websocket_scheme(scheme);
}

bool is_origin_form(std::string_view target) { return target.starts_with('/') && !path_fault(target); }

std::string_view text(Scheme scheme) { return scheme == Scheme::https ? "https" : "http"; }

void append_normalised(Uri const& uri, std::string& out) {
    append_origin(uri, out);
    if (uri.bare_query) out += '/';
    out += uri.path_and_query;
}

void append_host(Authority const& authority, std::string& out) {
    if (authority.ipv6) out += '[';
    append_host_name(authority.host, out);
    if (authority.ipv6) out += ']';
}

void append_host(Uri const& uri, std::string& out) {
    append_host(uri.authority, out);
    if (uri.authority.port == default_port(uri.scheme)) return;
    out += ':';
    out += std::to_string(uri.authority.port);
}

void append_unescaped(std::string_view url, std::string& out) {
    while (!url.empty()) {
        std::size_t size = 0;
        int const byte = nested_byte(url, size);
        if (is_unreserved_byte(byte)) {
            out += static_cast<char>(byte);
        } else {
            size = byte >= 0 ? 3 : 1;
            bool const is_escape = byte >= 0;
            for (char const c : url.substr(0, size)) out += is_escape && c >= 'a' && c <= 'f' ? static_cast<char>(c - 32) : c;
        }
        url.remove_prefix(size);
    }
}

bool same_origin(Uri const& a, Uri const& b) {
    return a.scheme == b.scheme && a.authority.port == b.authority.port && a.authority.ipv6 == b.authority.ipv6 &&
           same_host(a.authority.host, b.authority.host);
}

std::optional<std::string> resolve(Uri const& base, std::string_view reference) {
    reference = reference.substr(0, reference.find('#'));
    std::string absolute;
    if (scheme_end(reference) != npos) {
        absolute = reference;
    } else if (reference.starts_with("//")) {
        absolute = text(base.scheme);
        absolute.append(":").append(reference);
    } else {
        append_origin(base, absolute);
        absolute += merged_path(base, reference);
    }
    auto uri = parse_absolute(absolute);
    if (!uri) return std::nullopt;
    std::string normal;
    append_origin(*uri, normal);
    auto query = std::min(uri->path_and_query.find('?'), uri->path_and_query.size());
    normal += uri->bare_query ? "/" : without_dot_segments(uri->path_and_query.substr(0, query));
    normal += uri->path_and_query.substr(query);
    return normal;
}

}   // namespace garner::http
