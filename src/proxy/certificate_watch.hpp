// The certificates that this proxy uses: warnings before they expire, and what a reload has changed.
#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "util/clock.hpp"

typedef struct x509_st X509;

namespace garner::proxy {

/// A certificate that clients or peers are shown, that verifies theirs, or one of the CA of `bump`.
struct UsedCertificate {
    std::string subject;
    std::string place;   // "192.0.2.1:3129, [2001:db8::1]:3129", "client_ca of 192.0.2.1:3129"
    WallTime not_after{};
    std::string fingerprint = {};
    std::string name() const { return subject + " (" + place + ")"; }
};

UsedCertificate used_certificate(X509* certificate, std::string place);

/// Each certificate once, with all its places.
std::vector<UsedCertificate> with_all_places(std::vector<UsedCertificate> certificates);

/// The certificates of `after` that are not among those of `before` at the same place: "CN = proxy.example (192.0.2.1:3129), valid
/// until …".
std::vector<std::string> new_certificates(std::span<UsedCertificate const> before, std::span<UsedCertificate const> after);

/// Each certificate is named 30, 14, 7, 3 and 1 days before its end, and when it has expired: once each. Not thread-safe.
class CertificateWatch {
public:
    /// The warnings that are due, one for each certificate: "the certificate CN = proxy.example (192.0.2.1:3129) expires in
    /// 7 days, on …".
    std::vector<std::string> due(std::span<UsedCertificate const> certificates, WallTime now);

private:
    std::map<std::string, int> told_;   // the days of the last warning, by subject and end
};

}   // namespace garner::proxy
