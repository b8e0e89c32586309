// Warns before the certificates that this proxy shows to clients and peers expire.
#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "util/clock.hpp"

namespace garner::proxy {

/// A certificate that clients or peers are shown, or one of the CA of `bump`.
struct ShownCertificate {
    std::string subject;
    std::string place;   // "192.0.2.1:3129, [2001:db8::1]:3129"
    WallTime not_after{};
    std::string fingerprint = {};
    std::string name() const { return subject + " (" + place + ")"; }
};

/// Each certificate once, with all its places.
std::vector<ShownCertificate> with_all_places(std::vector<ShownCertificate> certificates);

/// The certificates of `after` that are not among those of `before`: "CN = proxy.example (192.0.2.1:3129), valid until …".
std::vector<std::string> new_certificates(std::span<ShownCertificate const> before, std::span<ShownCertificate const> after);

/// Each certificate is named 30, 14, 7, 3 and 1 days before its end, and when it has expired: once each. Not thread-safe.
class CertificateWatch {
public:
    /// The warnings that are due, one for each certificate: "the certificate CN = proxy.example (192.0.2.1:3129) expires in
    /// 7 days, on …".
    std::vector<std::string> due(std::span<ShownCertificate const> certificates, WallTime now);

private:
    std::map<std::string, int> told_;   // the days of the last warning, by subject and end
};

}   // namespace garner::proxy
