#include "auth/credentials.hpp"

#include <gtest/gtest.h>

#include <string>

#include "auth/secret_base64.hpp"
#include "util/base64.hpp"

namespace garner::auth {
namespace {

using Problem = CredentialsFault;

std::string basic_pair(std::string_view pair) { return "Basic " + encode_base64(pair); }

Problem fault_of(std::string_view field) { return parse_credentials(field).fault; }

TEST(Credentials, basic_gives_user_and_password) {
    auto const credentials = parse_credentials(basic_pair("alice:op:en"));
    ASSERT_TRUE(credentials);
    EXPECT_EQ(credentials.scheme, Scheme::basic);
    EXPECT_EQ(credentials.user.view(), "alice");
    EXPECT_EQ(credentials.secret.view(), "op:en");
    EXPECT_TRUE(parse_credentials("bASIC \t" + encode_base64("a:") + "  "));
}

TEST(Credentials, an_empty_password_is_for_the_source_to_judge) {
    auto const credentials = parse_credentials(basic_pair("alice:"));
    ASSERT_TRUE(credentials);
    EXPECT_EQ(credentials.secret.size(), 0u);
}

TEST(Credentials, bearer_gives_the_token) {
    auto const credentials = parse_credentials("Bearer eyJh.b-_~+/.c==");
    ASSERT_TRUE(credentials);
    EXPECT_EQ(credentials.scheme, Scheme::bearer);
    EXPECT_EQ(credentials.secret.view(), "eyJh.b-_~+/.c==");
}

TEST(Credentials, negotiate_gives_the_decoded_token) {
    std::string const token(Credentials::negotiate_max, '\x60');
    auto const credentials = parse_credentials("Negotiate " + encode_base64(token));
    ASSERT_TRUE(credentials);
    EXPECT_EQ(credentials.scheme, Scheme::negotiate);
    EXPECT_EQ(credentials.secret.view(), token);
}

TEST(Credentials, the_scheme_is_the_first_word) {
    EXPECT_EQ(scheme_of(" bASIC !!!"), Scheme::basic);
    EXPECT_EQ(scheme_of("Bearer\tx"), Scheme::bearer);
    EXPECT_EQ(scheme_of("Negotiate"), Scheme::negotiate);
    for (auto const* value : {"", "Digest a=b", "Basicx y"}) EXPECT_EQ(scheme_of(value), std::nullopt) << value;
}

TEST(Credentials, each_malformed_value_has_its_reason) {
    EXPECT_EQ(fault_of(""), Problem::unknown_scheme);
    EXPECT_EQ(fault_of("Digest username=\"a\""), Problem::unknown_scheme);
    EXPECT_EQ(fault_of("NTLM TlRMTVNTUAAB"), Problem::unknown_scheme);
    EXPECT_EQ(fault_of("Basic"), Problem::no_parameter);
    EXPECT_EQ(fault_of("Negotiate "), Problem::no_parameter);
    EXPECT_EQ(fault_of("Basic !!!!"), Problem::malformed_base64);
    EXPECT_EQ(fault_of("Basic YTpi="), Problem::malformed_base64);
    EXPECT_EQ(fault_of("Basic YTp="), Problem::malformed_base64);
    EXPECT_EQ(fault_of("Basic YTpi YTpi"), Problem::malformed_base64);
    EXPECT_EQ(fault_of("Bearer a b"), Problem::malformed_base64);
    EXPECT_EQ(fault_of("Bearer ="), Problem::malformed_base64);
    EXPECT_EQ(fault_of(basic_pair("alice")), Problem::no_colon);
    EXPECT_EQ(fault_of(basic_pair(":secret")), Problem::no_user);
    EXPECT_EQ(fault_of(basic_pair("al\nice:secret")), Problem::control_byte);
    EXPECT_EQ(fault_of(basic_pair(std::string_view("alice:se\0cret", 13))), Problem::control_byte);
    EXPECT_EQ(fault_of(basic_pair("alice:\x7f")), Problem::control_byte);
    EXPECT_EQ(fault_of(basic_pair(std::string(257, 'a') + ":b")), Problem::user_too_long);
    EXPECT_EQ(fault_of(basic_pair("a:" + std::string(Credentials::basic_max, 'b'))), Problem::too_long);
    EXPECT_EQ(fault_of("Bearer " + std::string(Credentials::bearer_max + 1, 'b')), Problem::too_long);
    EXPECT_EQ(fault_of("Negotiate " + encode_base64(std::string(Credentials::negotiate_max + 3, 'b'))), Problem::too_long);
}

TEST(Credentials, ntlm_inside_of_negotiate_is_recognised) {
    std::string const ntlm("NTLMSSP\0\1\0\0\0", 12);
    EXPECT_EQ(fault_of("Negotiate " + encode_base64(ntlm)), Problem::ntlm);
    EXPECT_EQ(fault_of("Negotiate " + encode_base64("\x60\x48\x06\x06+\x06\x01\x05\x05\x02" + ntlm)), Problem::ntlm);
}

TEST(Base64, each_value_has_one_spelling) {
    for (std::string const text : {"", "f", "fo", "foo", "foob", "fooba", "foobar"}) {
        auto const decoded = decode_base64(encode_base64(text));
        ASSERT_TRUE(decoded) << text;
        EXPECT_EQ(decoded->view(), text);
    }
    EXPECT_EQ(encode_base64("fooba"), "Zm9vYmE=");
    EXPECT_FALSE(decode_base64("Zm9="));   // bits after the last byte
    EXPECT_FALSE(decode_base64("Zg="));
    EXPECT_FALSE(decode_base64("Z==="));
    EXPECT_FALSE(decode_base64("===="));
    EXPECT_FALSE(decode_base64("Zm-_"));
}

}   // namespace
}   // namespace garner::auth
