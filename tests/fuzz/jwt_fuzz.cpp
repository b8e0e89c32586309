// JSON Web Tokens and key sets: no crash, and no token of the fuzzer is accepted, since it cannot sign.
#include "auth/jwt.hpp"

#include <string>

#include "fuzzed.hpp"

using namespace garner;

namespace {

/// A public key whose private key was not kept.
constexpr char const* keys_text = R"({"keys":[{"kty":"EC","kid":"e","crv":"P-256",
"x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]})";

}   // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    static auto const keys = *auth::parse_jwt_keys(keys_text);
    static auth::JwtOptions const options{.keys = "", .issuer = "i"};
    fuzz::Exact const bytes({reinterpret_cast<char const*>(data), size});
    auto const verdict = auth::check_jwt(bytes.view(), keys, options, from_unix_seconds(1'800'000'000));
    check(verdict.kind != auth::Verdict::Kind::accepted && !verdict.reason.empty());
    auto const set = auth::parse_jwt_keys(bytes.view());
    check(!set || !set->keys.empty());
    return 0;
}
