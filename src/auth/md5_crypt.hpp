// The hashes of Apache's htpasswd that libcrypt does not know. Pure.
#pragma once
#include <string>
#include <string_view>

namespace garner::auth {

/// Apache's MD5-crypt, "$apr1$SALT$HASH": `setting` is such a hash, or its part before HASH.
std::string apr1_hash(std::string_view password, std::string_view setting);

/// SHA-1 in base64.
std::string base64_sha1(std::string_view password);

}   // namespace garner::auth
