// The only file with OpenSSL's deprecated functions for EC keys.
#include "bump/leaf_key.hpp"

#include <openssl/ec.h>
#include <openssl/evp.h>

#include "util/check.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace garner::bump {

std::shared_ptr<EVP_PKEY> make_leaf_key() {
    std::shared_ptr<EVP_PKEY> key(EVP_PKEY_new(), &EVP_PKEY_free);
    auto* const ec = EC_KEY_new_by_curve_name(NID_X9_62_prime256v1);
    check(key && ec && EC_KEY_generate_key(ec) == 1);
    check(EVP_PKEY_assign_EC_KEY(key.get(), ec) == 1);   // owns `ec` from now on
    return key;
}

}   // namespace garner::bump

#pragma GCC diagnostic pop
