// The certificates that a TLS context trusts.
#pragma once
#include <memory>
#include <vector>

typedef struct ssl_ctx_st SSL_CTX;
typedef struct x509_st X509;

namespace garner::net {

/// Those of files. A directory of certificates is read at need and not included.
std::vector<std::shared_ptr<X509>> trusted_by(SSL_CTX*);

}   // namespace garner::net
