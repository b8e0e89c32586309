#include "bump/mimic.hpp"

#include <openssl/x509_vfy.h>

#include <algorithm>

namespace garner::bump {
namespace {

/// Clients refuse a certificate with this likeness for this host, although they trust the CA.
bool is_refused(Likeness const& likeness, std::string_view host, WallTime now) {
    return likeness.end <= now || now < likeness.begin || !may_match(likeness.names, host);
}

Likeness permitted_part(Likeness likeness, NameConstraints const& constraints) {
    std::erase_if(likeness.names, [&](auto const& name) { return !constraints.permits(name); });
    return likeness;
}

InvalidAnswer mimicked(OriginError error, Likeness const& origin, std::string_view host, NameConstraints const& constraints,
                       WallTime now) {
    InvalidAnswer answer{InvalidAnswer::Kind::certificate, Signer::throwaway, origin};
    if (error == OriginError::untrusted) return answer;
    auto permitted = permitted_part(origin, constraints);
    if (permitted.names.empty() || !is_refused(permitted, host, now)) return answer;
    return {InvalidAnswer::Kind::certificate, Signer::ca, std::move(permitted)};
}

}   // namespace

OriginError origin_error(long verify_result) {
    switch (verify_result) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID: return OriginError::outside_dates;
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH: return OriginError::wrong_name;
    default: return OriginError::untrusted;
    }
}

InvalidAnswer answer_invalid(Invalid setting, OriginError error, Likeness const& origin, std::string_view host,
                             NameConstraints const& constraints, WallTime now) {
    switch (setting) {
    case Invalid::mimic: return mimicked(error, origin, host, constraints, now);
    case Invalid::page: return {InvalidAnswer::Kind::page, Signer::ca, likeness_of_host(host, now)};
    case Invalid::terminate: break;
    }
    return {};
}

}   // namespace garner::bump
