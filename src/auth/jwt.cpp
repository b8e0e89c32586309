#include "auth/jwt.hpp"

#include <cjose/cjose.h>
#include <jansson.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "auth/credentials.hpp"
#include "util/text.hpp"

namespace garner::auth {
namespace {

constexpr seconds skew_max{30};
constexpr std::size_t claims_max = 200;
constexpr std::size_t claim_size_max = 1'024;

// ---- owners of jansson's and cjose's objects ----

struct FreeJson {
    void operator()(json_t* json) const { json_decref(json); }
};
using JsonValue = std::unique_ptr<json_t, FreeJson>;

struct FreeToken {
    void operator()(cjose_jws_t* token) const { cjose_jws_release(token); }
};
using Token = std::unique_ptr<cjose_jws_t, FreeToken>;

/// cjose stops the process at base64url whose length leaves one character (`assert(shift != 1)`).
bool is_base64url(std::string_view text) {
    return text.size() % 4 != 1 &&
           std::ranges::all_of(text, [](char c) { return is_alpha(c) || is_digit(c) || c == '-' || c == '_'; });
}

JsonValue parse_json(std::string_view text) {
    return JsonValue(json_loadb(text.data(), text.size(), JSON_REJECT_DUPLICATES, nullptr));
}

/// Empty: it is not there, or no text.
std::string text_member(json_t* object, char const* name) {
    auto* const value = json_object_get(object, name);
    return json_is_string(value) ? std::string(json_string_value(value), json_string_length(value)) : "";
}

Verdict no(std::string reason) { return {.kind = Verdict::Kind::wrong, .reason = std::move(reason)}; }
Verdict another(std::string reason) { return {.kind = Verdict::Kind::not_known, .reason = std::move(reason)}; }

// ---- keys ----

struct Algorithm {
    std::string_view name;
    std::string_view type;
    std::string_view curve;   // empty: any
};
/// RFC 7518 3.1; cjose has no EdDSA.
constexpr Algorithm algorithms[]{{"RS256", "RSA", ""},     {"RS384", "RSA", ""}, {"RS512", "RSA", ""},     {"PS256", "RSA", ""},
                                 {"PS384", "RSA", ""},     {"PS512", "RSA", ""}, {"ES256", "EC", "P-256"}, {"ES384", "EC", "P-384"},
                                 {"ES512", "EC", "P-521"}, {"HS256", "oct", ""}, {"HS384", "oct", ""},     {"HS512", "oct", ""}};

bool fits(JwtKey const& key, Algorithm const& algorithm) {
    return key.type == algorithm.type && (algorithm.curve.empty() || key.curve == algorithm.curve) &&
           (key.algorithm.empty() || key.algorithm == algorithm.name);
}

std::string fault_of(JwtKey const& key, json_t* json) {
    auto const use = text_member(json, "use");
    if (!use.empty() && use != "sig") return "is for \"" + use + "\"";
    // RFC 7518 3.2: at least as long as the hash.
    if (key.type == "oct" && text_member(json, "k").size() < 43) return "has less than 256 bits";
    for (auto const* const member : {"n", "e", "d", "p", "q", "dp", "dq", "qi", "x", "y", "k"})
        if (!is_base64url(text_member(json, member))) return std::string("has a member that is not in base64url: ") + member;
    if (std::ranges::none_of(algorithms, [&](Algorithm const& one) { return fits(key, one); }))
        return "has a type or an algorithm that is not supported";
    return "";
}

Result<JwtKey> read_key(json_t* json) {
    JwtKey key{nullptr, text_member(json, "kid"), text_member(json, "alg"), text_member(json, "kty"), text_member(json, "crv")};
    if (auto fault = fault_of(key, json); !fault.empty()) return Fault{std::move(fault)};
    std::unique_ptr<char, decltype(&std::free)> const text(json_dumps(json, 0), &std::free);
    cjose_err error{};
    if (text) {
        auto* const imported = cjose_jwk_import(text.get(), std::string_view(text.get()).size(), &error);
        key.key = {imported, [](auto const* one) { cjose_jwk_release(const_cast<cjose_jwk_t*>(one)); }};
    }
    if (!key.key) return Fault{std::string("cannot be read: ") + (error.message ? error.message : "malformed")};
    return key;
}

// ---- claims ----

void add_claim(std::string const& name, json_t* value, std::vector<Claim>& claims) {
    if (claims.size() >= claims_max) return;
    if (json_is_string(value) && json_string_length(value) <= claim_size_max)
        claims.push_back({name, std::string(json_string_value(value), json_string_length(value))});
    if (json_is_integer(value)) claims.push_back({name, std::to_string(json_integer_value(value))});
    if (json_is_boolean(value)) claims.push_back({name, json_is_true(value) ? "true" : "false"});
}

std::vector<Claim> claims_of(json_t* payload) {
    std::vector<Claim> claims;
    char const* name = nullptr;
    json_t* value = nullptr;
    json_object_foreach(payload, name, value) {
        std::size_t index = 0;
        json_t* item = nullptr;
        if (json_is_array(value))
            json_array_foreach(value, index, item) add_claim(name, item, claims);
        else
            add_claim(name, value, claims);
    }
    return claims;
}

bool has_text(json_t* value, std::string const& wanted) {
    if (json_is_string(value)) return wanted == std::string_view(json_string_value(value), json_string_length(value));
    std::size_t index = 0;
    json_t* item = nullptr;
    json_array_foreach(value, index, item) {
        if (json_is_string(item) && has_text(item, wanted)) return true;
    }
    return false;
}

/// A date of RFC 7519 2 (NumericDate). Nothing: none, or out of range.
std::optional<WallTime> date_of(json_t* value) {
    constexpr double last = 253'402'300'799;   // the end of the year 9999
    if (!json_is_number(value)) return std::nullopt;
    auto const number = json_number_value(value);
    if (!(number >= 0 && number <= last)) return std::nullopt;
    return WallTime(milliseconds(static_cast<std::int64_t>(number * 1'000)));
}

Verdict check_claims(json_t* payload, JwtOptions const& options, WallTime now) {
    if (!options.issuer.empty() && text_member(payload, "iss") != options.issuer) return another("the token has another issuer");
    if (!options.audience.empty() && !has_text(json_object_get(payload, "aud"), options.audience))
        return another("the token is for another audience");
    auto const end = date_of(json_object_get(payload, "exp"));
    if (!end) return no("the token has no end (exp)");
    if (now >= *end) return no("the token has expired");
    if (auto* const begin = json_object_get(payload, "nbf")) {
        auto const date = date_of(begin);
        if (!date || now + skew_max < *date) return no("the token is not yet valid (nbf)");
    }
    auto const user = text_member(payload, options.user.c_str());
    auto const control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; };
    if (user.empty() || user.size() > Credentials::user_max || std::ranges::any_of(user, control))
        return no("the token has no usable claim " + options.user);
    return {.kind = Verdict::Kind::accepted, .facts = {.user = lower_case(user), .claims = claims_of(payload), .until = *end}};
}

// ---- the signature ----

/// The key that the header names, or a fault.
Result<JwtKey const*> key_for(cjose_jws_t* token, JwtKeys const& keys) {
    auto* const header = cjose_jws_get_protected(token);
    std::unique_ptr<char, decltype(&std::free)> const raw(cjose_header_get_raw(header, "crit", nullptr), &std::free);
    if (raw) return Fault{"the token has critical extensions (crit)"};
    auto const member = [&](char const* name) {
        auto const* const value = cjose_header_get(header, name, nullptr);
        return std::string(value ? value : "");
    };
    auto const name = member(CJOSE_HDR_ALG), id = member(CJOSE_HDR_KID);
    auto const algorithm = std::ranges::find(algorithms, std::string_view(name), &Algorithm::name);
    if (algorithm == std::end(algorithms)) return Fault{"the algorithm of the token is not supported"};
    JwtKey const* found = nullptr;
    for (auto const& key : keys.keys) {
        if (id.empty() ? !fits(key, *algorithm) : key.id != id || !fits(key, *algorithm)) continue;
        if (found) return Fault{"the token does not tell which key signed it (kid)"};
        found = &key;
    }
    if (!found) return Fault{"no key has the id and the algorithm of the token"};
    return found;
}

}   // namespace

Result<JwtKeys> parse_jwt_keys(std::string_view text) {
    auto const json = parse_json(text);
    auto* const list = json_object_get(json.get(), "keys");
    if (!json_is_array(list)) return Fault{"is not a set of keys", R"(write { "keys": [ … ] } as in RFC 7517 5)"};
    JwtKeys keys;
    std::size_t index = 0;
    json_t* item = nullptr;
    json_array_foreach(list, index, item) {
        auto key = read_key(item);
        if (key)
            keys.keys.push_back(*std::move(key));
        else
            keys.faults.push_back("keys[" + std::to_string(index) + "] " + key.fault().what);
    }
    if (keys.keys.empty())
        return Fault{"has no key for signatures" + (keys.faults.empty() ? "" : ": " + keys.faults.front()),
                     "add an RSA, EC or oct key"};
    return keys;
}

bool looks_like_jwt(std::string_view token) {
    auto const first = token.find('.'), last = token.rfind('.');
    if (first == npos || first == last || !token.starts_with("eyJ")) return false;
    return is_base64url(token.substr(0, first)) && is_base64url(token.substr(first + 1, last - first - 1)) &&
           is_base64url(token.substr(last + 1));
}

Verdict check_jwt(std::string_view text, JwtKeys const& keys, JwtOptions const& options, WallTime now) {
    if (!looks_like_jwt(text)) return another("the token is not a JSON Web Token");
    cjose_err error{};
    Token const token(cjose_jws_import(text.data(), text.size(), &error));
    if (!token) return no("the token is malformed");
    auto const key = key_for(token.get(), keys);
    if (!key) return another(key.fault().what);
    // cjose reads the key only.
    if (!cjose_jws_verify(token.get(), const_cast<cjose_jwk_t*>((*key)->key.get()), &error)) return no("the signature is wrong");
    std::uint8_t* bytes = nullptr;
    std::size_t size = 0;
    if (!cjose_jws_get_plaintext(token.get(), &bytes, &size, &error)) return no("the token is malformed");
    auto const payload = parse_json({reinterpret_cast<char const*>(bytes), size});
    if (!json_is_object(payload.get())) return no("the claims are no JSON object");
    return check_claims(payload.get(), options, now);
}

}   // namespace garner::auth
