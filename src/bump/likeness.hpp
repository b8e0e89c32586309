// The contents of a minted certificate, mirrored from the certificate of an origin.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "bump/name_constraints.hpp"
#include "util/clock.hpp"

typedef struct x509_st X509;

namespace garner::bump {

struct Likeness {
    static constexpr std::chrono::days longest_time{30};
    static constexpr std::size_t names_max = 100;

    std::vector<std::string> names;   // DNS names in lower case and IP addresses, for the SAN extension
    WallTime begin{};
    WallTime end{};
    friend bool operator==(Likeness const&, Likeness const&) = default;
};

/// The dates of a certificate and its first names_max names (net::server_names) that are host names, patterns or addresses.
Likeness likeness_of(X509* origin);

/// For `host` alone, valid for a day: for pages of Garner inside a tunnel.
Likeness likeness_of_host(std::string_view host, WallTime now);

/// The likeness of a valid origin as a CA with these constraints may sign it: names that it does not permit are left out, and
/// `host` is among the others or matched by one. Valid for at most longest_time, from a day before today.
Likeness for_valid_origin(Likeness origin, std::string_view host, NameConstraints const&, WallTime now);

/// True if a client could accept the names for this host: one is equal, or has an asterisk and the same beginning and end. Wider
/// than RFC 6125 6.4.3.
bool may_match(std::vector<std::string> const& names, std::string_view host);

}   // namespace garner::bump
