#include "net/trust_store.hpp"

#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include "util/check.hpp"

namespace garner::net {

std::vector<std::shared_ptr<X509>> trusted_by(SSL_CTX* context) {
    auto* const all = X509_STORE_get1_all_certs(SSL_CTX_get_cert_store(context));
    check(all != nullptr);
    std::vector<std::shared_ptr<X509>> certificates;
    while (auto* one = sk_X509_pop(all)) certificates.emplace_back(one, &X509_free);
    sk_X509_free(all);
    return certificates;
}

}   // namespace garner::net
