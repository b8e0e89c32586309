// JSON Web Tokens (RFC 7519) signed by keys of a JWK set (RFC 7517). Pure.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "auth/facts.hpp"
#include "auth/options.hpp"
#include "auth/user_source.hpp"
#include "util/result.hpp"

struct _cjose_jwk_int;

namespace garner::auth {

/// A public key, or the secret of an HMAC.
struct JwtKey {
    std::shared_ptr<_cjose_jwk_int const> key;
    std::string id = {};          // "kid"; empty: none
    std::string algorithm = {};   // "alg"; empty: each of its type
    std::string type;             // "RSA", "EC", "oct"
    std::string curve = {};       // EC: "P-256"
};

struct JwtKeys {
    std::vector<JwtKey> keys = {};
    std::vector<std::string> faults = {};   // keys that were left out, and why
};

/// A fault: the text is no JWK set, or none of its keys can check signatures.
Result<JwtKeys> parse_jwt_keys(std::string_view text);

/// True for three parts in base64url, of which the first may be a JSON object (RFC 7515 3.1).
bool looks_like_jwt(std::string_view token);

/// Accepts a token with a valid signature by the key that its `kid` names (without `kid`: by the only key of its algorithm), of an
/// algorithm that fits the type of the key (RFC 8725 3.1, never "none"), with `exp` in the future, `nbf` at most 30 s in the
/// future, and the issuer, audience and user of the options. not_known: another issuer or unknown key.
Verdict check_jwt(std::string_view token, JwtKeys const&, JwtOptions const&, WallTime now);

}   // namespace garner::auth
