#include "bump/likeness.hpp"

#include <openssl/x509.h>

#include <algorithm>
#include <ctime>

#include "net/certificate.hpp"
#include "net/certificate_text.hpp"
#include "util/ip.hpp"
#include "util/text.hpp"

namespace garner::bump {
namespace {

constexpr std::chrono::days slow_clock{1};   // tolerated error of a client's clock
constexpr std::size_t host_name_max = 253;   // RFC 1035 2.3.4

WallTime not_before(X509* certificate) {
    std::tm parts{};
    if (ASN1_TIME_to_tm(X509_get0_notBefore(certificate), &parts) != 1) return {};
    return from_unix_seconds(::timegm(&parts));
}

std::string name_of(std::string_view host) {
    if (host.ends_with('.')) host.remove_suffix(1);
    auto const address = parse_ip(host);
    return address ? address->text() : lower_case(host);
}

/// RFC 6125 6.4.3: the asterisk must be the whole first label, and matches one label.
bool is_matched(std::vector<std::string> const& names, std::string const& host) {
    return std::ranges::count(names, host) > 0 || (!parse_ip(host) && std::ranges::count(names, net::wildcard_for(host)) > 0);
}

/// An origin may state anything as its name.
bool is_host_name(std::string_view name) {
    auto const is_allowed = [](char c) { return is_alpha(c) || is_digit(c) || std::string_view("-._*:").find(c) != npos; };
    return !name.empty() && name.size() <= host_name_max && std::ranges::all_of(name, is_allowed);
}

bool may_match_name(std::string_view pattern, std::string_view host) {
    auto const star = pattern.find('*');
    if (star == pattern.npos) return pattern == host;
    auto const after = pattern.substr(pattern.rfind('*') + 1);
    return host.starts_with(pattern.substr(0, star)) && host.ends_with(after);
}

}   // namespace

Likeness likeness_of(X509* origin) {
    Likeness likeness{net::server_names(origin), not_before(origin), net::not_after(origin)};
    std::erase_if(likeness.names, [](auto const& name) { return !is_host_name(name); });
    if (likeness.names.size() > Likeness::names_max) likeness.names.resize(Likeness::names_max);
    return likeness;
}

Likeness likeness_of_host(std::string_view host, WallTime now) {
    return {{name_of(host)}, now - slow_clock, now + std::chrono::days(1)};
}

Likeness for_valid_origin(Likeness origin, std::string_view host, NameConstraints const& constraints, WallTime now) {
    std::erase_if(origin.names, [&](auto const& name) { return !constraints.permits(name); });
    auto const own = name_of(host);
    if (!is_matched(origin.names, own)) {
        origin.names.resize(std::min(origin.names.size(), Likeness::names_max - 1));
        origin.names.insert(origin.names.begin(), own);
    }
    // A whole day: the likeness of an origin stays the same for a day, and so does its minted certificate.
    auto const today = std::chrono::floor<std::chrono::days>(now);
    origin.begin = std::max<WallTime>(origin.begin, today - slow_clock);
    origin.end = std::min<WallTime>(origin.end, origin.begin + Likeness::longest_time);
    return origin;
}

bool may_match(std::vector<std::string> const& names, std::string_view host) {
    auto const own = name_of(host);
    return std::ranges::any_of(names, [&](auto const& name) { return may_match_name(lower_case(name), own); });
}

}   // namespace garner::bump
