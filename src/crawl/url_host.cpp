#include "crawl/url_host.hpp"

#include <algorithm>

#include "crawl/url_address.hpp"
#include "crawl/url_bytes.hpp"
#include "util/idna.hpp"
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

UrlFault append_international(std::string_view name, std::string& to) {
    if (name.size() > idna_bytes_max) return UrlFault::host_too_long;
    return append_ascii_name(name, to) ? UrlFault::none : UrlFault::bad_idna;
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
