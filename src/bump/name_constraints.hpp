// The names for which a CA may sign (RFC 5280 4.2.1.10).
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http/host_pattern.hpp"
#include "util/ip.hpp"

typedef struct x509_st X509;

namespace garner::bump {

/// Addresses that equal `address` in the bits of `mask`.
struct AddressRange {
    IpAddress address;
    IpAddress mask;
    bool contains(IpAddress const&) const;
    std::string text() const;   // "10.0.0.0/8", "IPv6 addresses" for all of them
};

/// DNS names and addresses that one certificate permits or excludes.
struct Subtrees {
    std::vector<std::string> names;   // "example.com" includes names below it; ".example.com" is only these; "": all
    std::vector<AddressRange> ranges;
    bool contains(std::string_view name) const;
    std::string text() const;   // "example.com and names below it, 10.0.0.0/8"; empty: none
};

/// The constraints of a chain of CA certificates on DNS names and IP addresses: each certificate must permit a name. Immutable.
class NameConstraints {
public:
    /// Permits every name.
    NameConstraints() = default;
    explicit NameConstraints(std::vector<std::shared_ptr<X509>> const& chain);

    /// `name`: "www.example.com", "*.example.com" or an IP address.
    bool permits(std::string_view name) const;
    /// "only example.com and names below it; no IPv4 addresses, IPv6 addresses", or "any name".
    std::string text() const;

private:
    struct OfCertificate {
        Subtrees permitted, excluded;
        bool permits(std::string_view name) const;
    };
    std::vector<OfCertificate> certificates_;   // those with constraints
};

/// The value of a name constraints extension in OpenSSL's syntax that permits these hosts and the names below them, and no other
/// name or address: "critical,permitted;DNS:example.com,excluded;IP:0.0.0.0/0.0.0.0,...". `hosts` must not be empty.
std::string constraints_for(std::vector<http::HostPattern> const& hosts);

}   // namespace garner::bump
