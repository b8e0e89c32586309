#include "net/client_ca.hpp"

#include <openssl/sha.h>

#include "net/pem.hpp"

namespace garner::net {

Result<ClientCa> read_client_ca(std::string const& file) {
    auto const text = read_pem_file(file);
    if (!text) return text.fault();
    auto certificates = certificates_in(*text, file);
    if (!certificates) return certificates.fault();
    ClientCa ca{std::move(*certificates), {}};
    SHA256(reinterpret_cast<unsigned char const*>(text->data()), text->size(), ca.digest.data());
    return ca;
}

}   // namespace garner::net
