// Warns before the certificates that this proxy shows to clients and peers expire.
#pragma once
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "net/certificate.hpp"
#include "util/clock.hpp"

namespace garner::proxy {

/// Each certificate is named 30, 14, 7, 3 and 1 days before its end, and when it has expired: once each. Not thread-safe.
class CertificateWatch {
public:
    /// The warnings that are due, one for each certificate: "the certificate CN = proxy.example expires in 7 days, on …".
    std::vector<std::string> due(std::span<std::shared_ptr<net::Certificate const> const> certificates, WallTime now);

private:
    std::map<std::string, int> told_;   // the days of the last warning, by subject and end
};

}   // namespace garner::proxy
