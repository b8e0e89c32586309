// Warns before the certificates of listening addresses expire.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "proxy/listen_tls.hpp"
#include "util/clock.hpp"

namespace garner::proxy {

/// Each certificate is named 30, 14, 7, 3 and 1 days before its end, and when it has expired: once each. Not thread-safe.
class CertificateWatch {
public:
    /// The warnings that are due, one for each certificate: "the certificate CN = proxy.example expires in 7 days, on …".
    std::vector<std::string> due(TlsContexts const& contexts, WallTime now);

private:
    std::map<std::string, int> told_;   // the days of the last warning, by subject and end
};

}   // namespace garner::proxy
