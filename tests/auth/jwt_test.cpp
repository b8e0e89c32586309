#include "auth/jwt.hpp"

#include <cjose/cjose.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "auth/jwt_source.hpp"
#include "auth/logins.hpp"
#include "support/child.hpp"

namespace garner::auth {
namespace {

using testing::Contains;
using testing::HasSubstr;
using Outcome = Verdict::Kind;

std::string base64url(std::string_view bytes) {
    auto text = encode_base64(bytes);
    text.erase(std::min(text.find('='), text.size()));
    for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
    return text;
}

/// A key that signs, and its public part as JSON.
class Signer {
public:
    Signer(char const* kind, std::string id) : id_(std::move(id)) {
        cjose_err error{};
        if (std::string_view(kind) == "RSA") key_ = cjose_jwk_create_RSA_random(2'048, nullptr, 0, &error);
        if (std::string_view(kind) == "EC") key_ = cjose_jwk_create_EC_random(CJOSE_JWK_EC_P_256, &error);
        if (std::string_view(kind) == "oct") key_ = cjose_jwk_create_oct_random(256, &error);
        if (!id_.empty()) cjose_jwk_set_kid(key_, id_.c_str(), id_.size(), &error);
    }
    ~Signer() { cjose_jwk_release(key_); }
    Signer(Signer const&) = delete;
    Signer& operator=(Signer const&) = delete;

    std::string json(bool with_secret = false) const {
        cjose_err error{};
        std::unique_ptr<char, decltype(&std::free)> const text(cjose_jwk_to_json(key_, with_secret, &error), &std::free);
        return text.get();
    }
    std::string sign(char const* algorithm, std::string const& claims) const {
        cjose_err error{};
        auto* const header = cjose_header_new(&error);
        cjose_header_set(header, CJOSE_HDR_ALG, algorithm, &error);
        if (!id_.empty()) cjose_header_set(header, CJOSE_HDR_KID, id_.c_str(), &error);
        auto* const token =
            cjose_jws_sign(key_, header, reinterpret_cast<std::uint8_t const*>(claims.data()), claims.size(), &error);
        char const* text = nullptr;
        EXPECT_TRUE(token && cjose_jws_export(token, &text, &error)) << error.message;
        std::string out = text ? text : "";
        cjose_jws_release(token);
        cjose_header_release(header);
        return out;
    }

private:
    std::string id_;
    cjose_jwk_t* key_ = nullptr;
};

std::string set_of(std::vector<std::string> const& keys) {
    std::string text;
    for (auto const& key : keys) text += (text.empty() ? "" : ",") + key;
    return "{\"keys\":[" + text + "]}";
}

constexpr WallTime now = from_unix_seconds(1'800'000'000);
JwtOptions const jwt_options{.keys = "", .issuer = "https://id.example", .audience = "garner"};
std::string const good_claims =
    R"({"iss":"https://id.example","aud":["other","garner"],"sub":"Alice","exp":1800000060,"repository":["uni/a","uni/b"],"n":7})";

struct Keys {
    Signer rsa{"RSA", "r"}, curve{"EC", "e"}, shared{"oct", "h"};
    JwtKeys keys = *parse_jwt_keys(set_of({rsa.json(), curve.json(), shared.json(true)}));
    Verdict check(std::string const& token, JwtOptions const& options = jwt_options) const {
        return check_jwt(token, keys, options, now);
    }
    std::string with(std::string const& claims) const { return check(rsa.sign("RS256", claims)).reason; }
};

TEST(Jwt, each_algorithm_is_accepted_with_its_key) {
    Keys const keys;
    for (auto const& token : {keys.rsa.sign("RS256", good_claims), keys.rsa.sign("PS256", good_claims),
                              keys.curve.sign("ES256", good_claims), keys.shared.sign("HS256", good_claims)}) {
        auto const verdict = keys.check(token);
        ASSERT_EQ(verdict.kind, Outcome::accepted) << verdict.reason;
        EXPECT_EQ(verdict.facts.user, "alice");
        EXPECT_EQ(verdict.facts.until, from_unix_seconds(1'800'000'060));
        EXPECT_THAT(verdict.facts.claims, Contains(Claim{"repository", "uni/b"}));
        EXPECT_THAT(verdict.facts.claims, Contains(Claim{"n", "7"}));
    }
}

TEST(Jwt, claims_are_checked) {
    Keys const keys;
    EXPECT_EQ(keys.with(R"({"iss":"https://evil.example","aud":"garner","sub":"a","exp":1800000060})"),
              "the token has another issuer");
    EXPECT_EQ(keys.with(R"({"iss":"https://id.example","aud":"x","sub":"a","exp":1800000060})"),
              "the token is for another audience");
    EXPECT_EQ(keys.with(R"({"iss":"https://id.example","sub":"a","exp":1800000060})"), "the token is for another audience");
    EXPECT_EQ(keys.with(R"({"iss":"https://id.example","aud":"garner","sub":"a","exp":1800000000})"), "the token has expired");
    EXPECT_EQ(keys.with(R"({"iss":"https://id.example","aud":"garner","sub":"a"})"), "the token has no end (exp)");
    EXPECT_EQ(keys.with(R"({"iss":"https://id.example","aud":"garner","sub":"a","exp":"1800000060"})"),
              "the token has no end (exp)");
    EXPECT_EQ(keys.with(R"({"iss":"https://id.example","aud":"garner","sub":"a","exp":1800000060,"nbf":1800000031})"),
              "the token is not yet valid (nbf)");
    EXPECT_EQ(keys.with(R"({"iss":"https://id.example","aud":"garner","sub":"a","exp":1800000060,"nbf":1800000030})"), "");
    EXPECT_EQ(keys.with(R"({"iss":"https://id.example","aud":"garner","sub":"","exp":1800000060})"),
              "the token has no usable claim sub");
    EXPECT_EQ(keys.with(R"({"iss":"https://id.example","aud":"garner","sub":"a\nb","exp":1800000060})"),
              "the token has no usable claim sub");
    EXPECT_EQ(keys.with(R"([1])"), "the claims are no JSON object");
    EXPECT_EQ(keys.with("x"), "the claims are no JSON object");
}

TEST(Jwt, signatures_and_keys_cannot_be_confused) {
    Keys const keys;
    auto const good = keys.rsa.sign("RS256", good_claims);
    auto const head_end = good.find('.'), payload_end = good.rfind('.');
    auto const payload = good.substr(head_end + 1, payload_end - head_end - 1), signature = good.substr(payload_end);

    // "none", with and without a signature.
    for (std::string const name : {"none", "None", ""}) {
        auto const head = base64url(R"({"alg":")" + name + R"(","kid":"r"})");
        EXPECT_NE(keys.check(head + "." + payload + ".").kind, Outcome::accepted) << name;
        EXPECT_NE(keys.check(head + "." + payload + signature).kind, Outcome::accepted) << name;
    }
    // An HMAC with the public key as its secret.
    auto const signed_part = base64url(R"({"alg":"HS256","kid":"r"})") + "." + payload;
    auto const secret = keys.rsa.json();
    unsigned char mac[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()), reinterpret_cast<unsigned char const*>(signed_part.data()),
         signed_part.size(), mac, &size);
    EXPECT_EQ(keys.check(signed_part + "." + base64url({reinterpret_cast<char*>(mac), size})).reason,
              "no key has the id and the algorithm of the token");
    // Another's key, an unknown key, a changed payload, a key in the header.
    Signer const other("RSA", "r"), unknown("RSA", "x");
    EXPECT_EQ(keys.check(other.sign("RS256", good_claims)).reason, "the signature is wrong");
    EXPECT_EQ(keys.check(unknown.sign("RS256", good_claims)).kind, Outcome::not_known);
    EXPECT_NE(keys.check(good.substr(0, head_end + 1) + base64url("{}") + signature).kind, Outcome::accepted);
    EXPECT_NE(keys.check(good.substr(0, good.size() - 4)).kind, Outcome::accepted);
    auto const with_key = base64url(R"({"alg":"RS256","jwk":)" + unknown.json() + "}") + "." + payload + signature;
    EXPECT_NE(keys.check(with_key).kind, Outcome::accepted);
    auto const critical = base64url(R"({"alg":"RS256","kid":"r","crit":["b64"],"b64":false})");
    EXPECT_EQ(keys.check(critical + "." + payload + signature).reason, "the token has critical extensions (crit)");
    for (std::string const text : {"", ".", "..", "eyJ..", "eyJ.a.b.c", "eyJhbGciOiJSUzI1NiJ9.!.a", "opensesame",
                                   "eyJhbGciOiJSUzI1NiIsImtpZCI6InIifQ.a.a", "eyJhbGciOiJSUzI1NiIsImtpZCI6InIifQ.e30.aaaaa"})
        EXPECT_NE(keys.check(text).kind, Outcome::accepted) << text;
}

TEST(Jwt, without_a_kid_there_must_be_one_key_of_the_algorithm) {
    Signer const one("RSA", ""), two("RSA", "two");
    auto const token = one.sign("RS256", good_claims);
    EXPECT_EQ(check_jwt(token, *parse_jwt_keys(set_of({one.json()})), jwt_options, now).kind, Outcome::accepted);
    EXPECT_EQ(check_jwt(token, *parse_jwt_keys(set_of({one.json(), two.json()})), jwt_options, now).kind, Outcome::not_known);
}

TEST(Jwt, a_set_without_a_usable_key_is_a_fault) {
    for (std::string const text :
         {"", "x", "[]", "{}", R"({"keys":{}})", R"({"keys":[]})", R"({"keys":[{"kty":"RSA"}]})",
          R"({"keys":[{"kty":"oct","k":"c2hvcnQ"}]})", R"({"keys":[{"kty":"EC","crv":"P-256","x":"AAAAA","y":"AAAAA"}]})",
          R"({"keys":[{"kty":"RSA","n":"A","e":"AQAB"}]})", R"({"keys":[{"kty":"OKP","crv":"Ed25519","x":"AA"}]})"})
        EXPECT_FALSE(parse_jwt_keys(text)) << text;
    Signer const good("EC", "e");
    auto const keys = parse_jwt_keys(set_of({good.json(), R"({"kty":"OKP"})", R"({"kty":"RSA","use":"enc"})", "7"}));
    ASSERT_TRUE(keys) << keys.fault_text();
    EXPECT_EQ(keys->keys.size(), 1u);
    EXPECT_EQ(keys->faults.size(), 3u);
}

TEST(JwtSource, a_password_that_no_source_knows_has_the_reason_of_each) {
    test::TempDir const dir;
    Signer const one("EC", "1");
    auto const users = dir.write("users", "alice:{SHA}w3QkzGJswDXW5OKZHAJw0FELjfM=\n");
    Authenticator authenticator;
    use(authenticator,
        load({.sources = {HtpasswdOptions{users}, JwtOptions{.keys = dir.write("jwks.json", set_of({one.json()}))}}}));
    EXPECT_EQ(log_in(authenticator, basic("dave", "x")).reason,
              "htpasswd: the users' file does not have the user; jwt: the token is not a JSON Web Token");
    EXPECT_EQ(log_in(authenticator, basic("alice", "x")).reason, "htpasswd: wrong password");
}

TEST(JwtSource, tokens_come_as_bearer_and_as_the_password_of_basic_and_end_with_their_key) {
    test::TempDir const dir;
    Signer const one("EC", "1"), two("EC", "2");
    auto const file = dir.write("jwks.json", set_of({one.json()}));
    auto const claims = R"({"sub":"ci","exp":)" + std::to_string(unix_seconds(wall_now()) + 600) + R"(,"repository":"uni/web"})";
    auto const token = one.sign("ES256", claims);
    Authenticator authenticator;
    use(authenticator,
        load({.sources = {JwtOptions{.keys = file}}, .groups = {{.name = "ci", .claims = {{"repository", {"uni/*"}}}}}}));
    for (auto const& field : {"Bearer " + token, basic("token", token)}) {
        auto const answer = log_in(authenticator, field);
        ASSERT_EQ(answer.kind, LoginAnswer::Kind::accepted) << answer.reason;
        EXPECT_EQ(answer.identity->user, "ci");
        EXPECT_EQ(answer.identity->groups, std::vector<std::string>{"ci"});
    }
    dir.write("jwks.json", "broken");
    EXPECT_THAT(authenticator.refresh().at(0).text(), HasSubstr("its last keys stay"));
    EXPECT_EQ(authenticator.find("Bearer " + token, wall_now()).kind, Verified::Found::Kind::accepted);
    ASSERT_EQ(authenticator.troubles().size(), 1u);
    EXPECT_EQ(authenticator.troubles()[0].name, file);
    EXPECT_GT(authenticator.troubles()[0].since, WallTime{}) << "the first set was right";
    authenticator.refresh();
    EXPECT_EQ(authenticator.troubles().size(), 1u) << "the file is still wrong";
    dir.write("jwks.json", set_of({two.json()}));
    EXPECT_THAT(authenticator.refresh().at(0).text(), HasSubstr("is read again"));
    EXPECT_TRUE(authenticator.troubles().empty());
    EXPECT_EQ(log_in(authenticator, "Bearer " + token).kind, LoginAnswer::Kind::rejected);
    EXPECT_EQ(log_in(authenticator, "Bearer " + two.sign("ES256", claims)).kind, LoginAnswer::Kind::accepted);
}

}   // namespace
}   // namespace garner::auth
