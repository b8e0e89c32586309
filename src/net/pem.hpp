// Reads certificates and private keys from PEM files (RFC 7468).
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "util/bytes.hpp"
#include "util/result.hpp"

typedef struct evp_pkey_st EVP_PKEY;
typedef struct x509_st X509;

namespace garner::net {

inline constexpr Bytes pem_file_max = 4 * MiB;

/// The content of the file. Fault: it cannot be read, or is longer than pem_file_max.
Result<std::string> read_pem_file(std::string const& file);

/// All certificates in the text, at least one, in their order. Other PEM blocks are skipped. `file` is named in the fault.
Result<std::vector<std::shared_ptr<X509>>> certificates_in(std::string const& pem, std::string const& file);

/// The first private key in the text. Fault: there is none, or it is encrypted.
Result<std::shared_ptr<EVP_PKEY>> private_key_in(std::string const& pem, std::string const& file);

}   // namespace garner::net
