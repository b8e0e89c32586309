#include "crawl/url_host.hpp"

#include <unicode/uidna.h>

#include <algorithm>
#include <array>

#include "crawl/url_address.hpp"
#include "crawl/url_bytes.hpp"
#include "util/check.hpp"
#include "util/text.hpp"

namespace garner::crawl {
namespace {

UrlFault append_bracketed(std::string_view host, std::string& to) {
    if (!host.ends_with(']') || host.find(':') == host.npos) return UrlFault::bad_ipv6;
    auto const address = parse_ip(host.substr(1, host.size() - 2));
    if (!address) return UrlFault::bad_ipv6;
    to.push_back('[');
    append_ipv6(*address, to);
    to.push_back(']');
    return UrlFault::none;
}

UIDNA const* open_idna() {
    UErrorCode error = U_ZERO_ERROR;
    constexpr std::uint32_t options = UIDNA_CHECK_BIDI | UIDNA_CHECK_CONTEXTJ | UIDNA_NONTRANSITIONAL_TO_ASCII;
    auto const* idna = uidna_openUTS46(options, &error);
    check(U_SUCCESS(error));   // its data is part of the library
    return idna;
}

/// A name in UTF-8 by UTS #46, non-transitional: CheckBidi and CheckJoiners, no STD3 rules, no check of hyphens and
/// lengths.
UrlFault append_international(std::string_view name, std::string& to) {
    constexpr std::uint32_t ignored = UIDNA_ERROR_EMPTY_LABEL | UIDNA_ERROR_LABEL_TOO_LONG | UIDNA_ERROR_DOMAIN_NAME_TOO_LONG |
                                      UIDNA_ERROR_LEADING_HYPHEN | UIDNA_ERROR_TRAILING_HYPHEN | UIDNA_ERROR_HYPHEN_3_4;
    static UIDNA const* const idna = open_idna();
    if (name.size() > idna_bytes_max) return UrlFault::host_too_long;
    std::array<char, 8 * idna_bytes_max> ascii;   // a longer mapped name is invalid
    UIDNAInfo info = UIDNA_INFO_INITIALIZER;
    UErrorCode error = U_ZERO_ERROR;
    auto const size = uidna_nameToASCII_UTF8(idna, name.data(), static_cast<std::int32_t>(name.size()), ascii.data(),
                                             static_cast<std::int32_t>(ascii.size()), &info, &error);
    if (U_FAILURE(error) || (info.errors & ~ignored) != 0) return UrlFault::bad_idna;
    to.append(ascii.data(), static_cast<std::size_t>(size));
    return UrlFault::none;
}

/// Accepts valid domains; one that ends in a number is rewritten as an IPv4 address.
UrlFault finish(std::size_t begin, std::string& to) {
    auto const domain = std::string_view(to).substr(begin);
    if (domain.empty()) return UrlFault::no_host;
    if (find_first_in(forbidden_domain, domain) < domain.size()) return UrlFault::forbidden_in_host;
    if (!ends_in_number(domain)) return UrlFault::none;
    auto const address = parse_ipv4(domain);
    if (!address) return UrlFault::bad_ipv4;
    to.resize(begin);
    to.append(IpAddress::v4(*address).text());
    return UrlFault::none;
}

UrlFault append_domain(std::string_view name, std::string& to) {
    auto const begin = to.size();
    if ((sets_of(name) & not_ascii) == 0) {
        // An ASCII name is only lower-cased, even if UTS #46 would reject an "xn--" label (URL Standard, "domain to
        // ASCII").
        to.append(name);
        std::transform(to.begin() + static_cast<std::ptrdiff_t>(begin), to.end(), to.begin() + static_cast<std::ptrdiff_t>(begin),
                       to_lower);
    } else if (auto const fault = append_international(name, to); fault != UrlFault::none) {
        return fault;
    }
    return finish(begin, to);
}

}   // namespace

UrlFault append_host(std::string_view host, std::string& to) {
    if (host.starts_with('[')) return append_bracketed(host, to);
    if ((sets_of(host) & (not_ascii | percent)) == 0) return append_domain(host, to);
    // Checked before decoding: an invalid byte must not form a character together with a decoded %XX.
    if (!is_utf8(host)) return UrlFault::bad_idna;
    std::string decoded;
    append_decoded(host, decoded);
    return append_domain(decoded, to);
}

}   // namespace garner::crawl
