// The texts and times that a certificate (RFC 5280) states.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "util/clock.hpp"

typedef struct x509_st X509;

namespace garner::net {

/// Names of a server: DNS names (lower case) and IP addresses of the SAN extension; the CN if it has none of them (RFC 6125
/// 6.4.4). Names with control bytes are left out.
std::vector<std::string> server_names(X509*);

/// Names of a client: DNS names (lower case), URIs and e-mail addresses of the SAN extension; the CN if it has none of them.
/// Names with control bytes are left out. May be empty.
std::vector<std::string> identity_names(X509*);

/// The subject as OpenSSL prints it on one line: "O = Example, CN = proxy.example". Public authorities also issue certificates with
/// names alone: "without subject, proxy.example".
std::string subject_of(X509*);

/// The end of the validity period.
WallTime not_after(X509*);

/// The SHA-256 of the certificate, 32 bytes.
std::string fingerprint_of(X509*);

/// "2026-12-04", in UTC.
std::string date_text(WallTime);

inline constexpr std::chrono::days expiry_notice_time{14};

/// "expired on 2026-11-22" or "expires in 9 days, on 2026-12-04", from expiry_notice_time before the end on; else nothing.
std::optional<std::string> expiry_notice(WallTime not_after, WallTime now);

}   // namespace garner::net
