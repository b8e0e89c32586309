// The texts of garner ca.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "bump/ca_init.hpp"
#include "util/clock.hpp"

typedef struct x509_st X509;

namespace garner::bump {

/// The names, dates, constraints and fingerprints of each certificate.
std::string ca_text(std::vector<std::shared_ptr<X509>> const& chain, WallTime now);

/// The next steps after `garner ca init`.
std::string init_text(CaPaths const&, std::vector<std::shared_ptr<X509>> const& chain);

/// PEM.
std::string pem_of(X509*);

/// SHA-256 of the certificate as browsers show it: "AB:01:...".
std::string fingerprint_of(X509*);

}   // namespace garner::bump
