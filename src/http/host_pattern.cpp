#include "http/host_pattern.hpp"

#include <algorithm>

#include "http/uri.hpp"
#include "util/idna.hpp"
#include "util/text.hpp"

namespace garner::http {
namespace {

constexpr std::size_t host_bytes_max = 253, label_bytes_max = 63;   // RFC 1035 2.3.4, in dotted form

constexpr bool is_name_byte(char c) { return is_alpha(c) || is_digit(c) || c == '-' || c == '_' || c == '.'; }

std::string_view without_first_dot(std::string_view name) {
    if (name.starts_with('.')) name.remove_prefix(1);
    return name;
}

/// The host of the Adblock filter "||example.com^"; empty for other texts.
std::string_view host_of_filter(std::string_view text) {
    if (!text.starts_with("||") || !text.ends_with('^') || text.size() < 4) return {};
    return text.substr(2, text.size() - 3);
}

/// Why a name in ASCII is no host and no domain; nullptr if it is one. An address has been read before.
char const* name_fault(std::string_view name) {
    name = without_first_dot(name);
    if (name.empty()) return "it is empty";
    if (!std::ranges::all_of(name, is_name_byte)) return "it has a character that no host name has";
    if (is_mistaken_ipv4(name)) return "it ends in a number, but is no dotted decimal address";
    if (name.size() > host_bytes_max) return "it is longer than 253 bytes";
    for (std::size_t begin = 0; begin <= name.size();) {
        auto const end = std::min(name.find('.', begin), name.size());
        if (end == begin) return "it has two dots in a row, or at its begin";
        if (end - begin > label_bytes_max) return "it has a label of more than 63 bytes";
        begin = end + 1;
    }
    return nullptr;
}

constexpr char const* syntax = R"(write "www.example.com", or ".example.com" for it and its subdomains)";

/// "write HOST", if there is a host in a text that has more.
std::string write_host(std::string_view host) {
    return HostPattern::parse(host) ? "write \"" + std::string(host) + '"' : std::string(syntax);
}

Fault fault_of_filter(std::string_view text) {
    if (text.starts_with("@@")) return {"is not a host: it is an exception of Adblock", "write an allow rule before this rule"};
    auto const begin = std::min(text.find_first_not_of('|'), text.size());
    auto const host = text.substr(begin, text.find_first_of("|^/$", begin) - begin);
    return {"is not a host: only Adblock's form ||example.com^ is read", write_host(host)};
}

}   // namespace

std::optional<std::string_view> HostPattern::plain_form(std::string_view text, std::string& scratch) {
    auto const filtered = host_of_filter(text);
    auto name = filtered.empty() ? text : filtered;
    if (!is_ascii(name)) {
        scratch.clear();
        if (!append_ascii_name(name, scratch)) return std::nullopt;
        name = scratch;
    }
    name = without_final_dot(name);
    if (parse_ip(name)) return name;
    if (name_fault(name)) return std::nullopt;
    if (filtered.empty() || name.starts_with('.')) return name;
    scratch = '.' + std::string(name);
    return scratch;
}

std::optional<HostPattern> HostPattern::parse(std::string_view text) {
    std::string scratch;
    auto const name = plain_form(text, scratch);
    if (!name) return std::nullopt;
    HostPattern pattern;
    pattern.text_ = lower_case(*name);
    pattern.address_ = parse_ip(*name);
    return pattern;
}

Fault HostPattern::fault_of(std::string_view text) {
    auto const is_not = [](std::string const& why, std::string mend = syntax) { return Fault{"is not a host: " + why, mend}; };
    if (text.empty()) return is_not("it is empty");
    if (text.starts_with("@@") || text.find_first_of("|^") != npos) return fault_of_filter(text);
    if (auto const scheme = text.find("://"); scheme != npos) {
        auto const rest = text.substr(scheme + 3);
        return is_not("it is a URL", write_host(rest.substr(0, rest.find_first_of(":/?#"))));
    }
    if (auto const slash = text.find('/'); slash != npos && parse_ip(text.substr(0, slash)))
        return is_not("it is a network", "use destination or source for networks");
    if (text.find('/') != npos) return is_not("it has a path", write_host(text.substr(0, text.find('/'))));
    if (text.find_first_of(" \t") != npos) return is_not("it has a space", "write each host by itself");
    if (text.starts_with("*.")) return is_not("it has a wildcard", write_host(text.substr(1)));
    if (text.find('*') != npos) return is_not("it has a wildcard", "use host_matches, or a domain such as \".example.com\"");
    if (text.starts_with('[')) return is_not("it has brackets", write_host(text.substr(1, text.find(']') - 1)));
    if (text.find(':') != npos) return is_not("it has a port", write_host(text.substr(0, text.find(':'))));
    std::string ascii;
    if (!is_ascii(text) && !append_ascii_name(text, ascii)) return is_not("it is not a valid international name", "correct it");
    auto const* why = name_fault(without_final_dot(is_ascii(text) ? text : ascii));
    return is_not(why ? why : "it cannot be read");
}

bool HostPattern::matches(std::string_view host) const {
    host = without_final_dot(host);
    if (address_) return parse_ip(host) == address_;
    std::string_view const wanted = text_;
    if (wanted.front() != '.') return equals_ignoring_case(host, wanted);
    if (host.size() >= wanted.size()) return equals_ignoring_case(host.substr(host.size() - wanted.size()), wanted);
    return equals_ignoring_case(host, wanted.substr(1));
}

bool HostPattern::covers(HostPattern const& other) const {
    return other.is_domain() ? is_domain() && other.text_.ends_with(text_) : matches(other.text_);
}

}   // namespace garner::http
