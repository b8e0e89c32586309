// The keys `auth` and `groups`.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "util/clock.hpp"
#include "util/ip.hpp"

namespace garner::auth {

struct HtpasswdOptions {
    std::string file = {};
    friend bool operator==(HtpasswdOptions const&, HtpasswdOptions const&) = default;
};

struct LdapOptions {
    std::string url = {};
    std::string base = {};
    std::string filter = "(uid={user})";
    std::string bind_dn = {};              // account for searches; empty: anonymous
    std::string bind_password_file = {};   // its first line; empty: no password
    std::string ca_file = {};              // PEM; empty: the system's
    friend bool operator==(LdapOptions const&, LdapOptions const&) = default;
};

struct NegotiateOptions {
    std::string keytab = {};
    std::string realm = {};   // is dropped from names of users; empty: names keep their realm
    friend bool operator==(NegotiateOptions const&, NegotiateOptions const&) = default;
};

struct JwtOptions {
    std::string keys = {};       // file with a JWK set (RFC 7517 5)
    std::string issuer = {};     // empty: any
    std::string audience = {};   // empty: any
    std::string user = "sub";    // the claim with the name
    friend bool operator==(JwtOptions const&, JwtOptions const&) = default;
};

struct AddressOptions {
    std::vector<std::pair<IpAddress, std::string>> users = {};
    friend bool operator==(AddressOptions const&, AddressOptions const&) = default;
};

/// Users by the name in their verified certificate.
struct CertificateOptions {
    friend bool operator==(CertificateOptions const&, CertificateOptions const&) = default;
};

using SourceOptions = std::variant<HtpasswdOptions, LdapOptions, NegotiateOptions, JwtOptions, AddressOptions, CertificateOptions>;

/// Values that one claim may have; `*` stands for any text.
struct ClaimPatterns {
    std::string claim = {};
    std::vector<std::string> patterns = {};
    friend bool operator==(ClaimPatterns const&, ClaimPatterns const&) = default;
};

/// A user is a member by any one of `users` and `ldap`, or by all of `claims`.
struct GroupOptions {
    std::string name = {};
    std::vector<std::string> users = {};   // names, or "file:PATH" for a file with a name a line
    std::vector<std::string> ldap = {};    // DNs of groups of the directory
    std::vector<ClaimPatterns> claims = {};
    friend bool operator==(GroupOptions const&, GroupOptions const&) = default;
};

struct Options {
    std::string realm = "Garner";   // of challenges
    milliseconds remember = std::chrono::minutes(5);
    milliseconds remember_failures = std::chrono::seconds(30);
    std::uint32_t entries_max = 100'000;
    std::uint32_t threads = 2;
    milliseconds timeout = std::chrono::seconds(10);
    milliseconds grace = std::chrono::hours(1);
    std::uint32_t failures_per_minute = 10;   // 0: no limit
    std::vector<SourceOptions> sources = {};
    std::vector<GroupOptions> groups = {};

    friend bool operator==(Options const&, Options const&) = default;
};

}   // namespace garner::auth
