// Reads the files of the certificate authority.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "util/clock.hpp"
#include "util/result.hpp"

typedef struct evp_pkey_st EVP_PKEY;
typedef struct x509_st X509;

namespace garner::bump {

struct Ca {
    std::vector<std::shared_ptr<X509>> chain;   // the signing certificate first, each followed by its issuer
    std::shared_ptr<EVP_PKEY> key;              // key of the first certificate
};

/// Reads and checks both files; Fault::where is the path of the faulty one. The key must be an RSA or EC key that belongs to the
/// first certificate, in a file that only its owner may read. Dates are not checked. The process makes no core dumps from then
/// on, so that none contains the key.
Result<Ca> read_ca(std::string const& chain_file, std::string const& key_file);

/// The certificates of a chain file alone, checked as by read_ca().
Result<std::vector<std::shared_ptr<X509>>> read_ca_chain(std::string const& file);

/// The root, if the chain ends with it: it is signed by itself. Else nullptr.
X509* root_of(std::vector<std::shared_ptr<X509>> const& chain);

/// A line for each certificate that has expired or ends within net::expiry_notice_time; Fault::where is `file`.
std::vector<Fault> expiry_notices(std::vector<std::shared_ptr<X509>> const& chain, std::string const& file, WallTime now);

}   // namespace garner::bump
