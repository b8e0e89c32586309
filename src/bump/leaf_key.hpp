// The keys of minted certificates.
#pragma once
#include <memory>

typedef struct evp_pkey_st EVP_PKEY;

namespace garner::bump {

/// A new P-256 key as an EC_KEY object. OpenSSL 3 puts its public part into a certificate several times faster than that of a
/// provider key, which it encodes by way of the provider (tests/bench/minting.cpp measures both).
std::shared_ptr<EVP_PKEY> make_leaf_key();

}   // namespace garner::bump
