#include "auth/negotiate_source.hpp"

#include <gmock/gmock.h>
#include <gssapi/gssapi_krb5.h>
#include <gtest/gtest.h>
#include <krb5/krb5.h>
#include <stdlib.h>

#include <atomic>
#include <thread>

#include "auth/logins.hpp"
#include "support/kdc.hpp"

namespace garner::auth {
namespace {

using testing::HasSubstr;
using Outcome = Verdict::Kind;

/// The libraries read the environment of the process.
void set_environment(std::vector<std::string> const& values) {
    for (auto const& value : values) {
        auto const equals = value.find('=');
        ::setenv(value.substr(0, equals).c_str(), value.substr(equals + 1).c_str(), 1);
    }
}

/// A fresh token of the user in KRB5CCNAME for HTTP@localhost; empty after a failure.
std::string token_of_client(bool spnego = true) {
    OM_uint32 minor = 0;
    gss_buffer_desc text{14, const_cast<char*>("HTTP@localhost")};
    gss_name_t name = GSS_C_NO_NAME;
    gss_ctx_id_t context = GSS_C_NO_CONTEXT;
    gss_OID_desc spnego_oid{6, const_cast<char*>("\x2b\x06\x01\x05\x05\x02")};
    gss_buffer_desc token = GSS_C_EMPTY_BUFFER;
    gss_import_name(&minor, &text, GSS_C_NT_HOSTBASED_SERVICE, &name);
    gss_init_sec_context(&minor, GSS_C_NO_CREDENTIAL, &context, name, spnego ? &spnego_oid : gss_mech_krb5, 0, 0,
                         GSS_C_NO_CHANNEL_BINDINGS, GSS_C_NO_BUFFER, nullptr, &token, nullptr, nullptr);
    std::string out(static_cast<char*>(token.value), token.length);
    gss_release_buffer(&minor, &token);
    gss_delete_sec_context(&minor, &context, GSS_C_NO_BUFFER);
    gss_release_name(&minor, &name);
    return out;
}

/// Gets a ticket with authorization data, as Active Directory adds them for many groups. Later tokens have it.
void get_large_ticket(std::size_t size) {
    krb5_context context = nullptr;
    krb5_ccache cache = nullptr;
    krb5_creds wanted{};
    krb5_creds* got = nullptr;
    ASSERT_EQ(krb5_init_context(&context), 0);
    ASSERT_EQ(krb5_cc_default(context, &cache), 0);
    ASSERT_EQ(krb5_cc_get_principal(context, cache, &wanted.client), 0);
    ASSERT_EQ(krb5_parse_name(context, "HTTP/localhost@UNI.EXAMPLE", &wanted.server), 0);
    std::vector<krb5_octet> bytes(size, 'x');
    krb5_authdata data{KV5M_AUTHDATA, 1'000, static_cast<unsigned>(size), bytes.data()};
    krb5_authdata* list[]{&data, nullptr};
    wanted.authdata = list;
    ASSERT_EQ(krb5_get_credentials(context, 0, cache, &wanted, &got), 0);
    wanted.authdata = nullptr;
    // GSS-API looks for a ticket without authorization data.
    krb5_free_authdata(context, got->authdata);
    got->authdata = nullptr;
    ASSERT_EQ(krb5_cc_store_cred(context, cache, got), 0);
    krb5_free_cred_contents(context, &wanted);
    krb5_free_creds(context, got);
    krb5_cc_close(context, cache);
    krb5_free_context(context);
}

class NegotiateTest : public testing::Test {
protected:
    static void SetUpTestSuite() {
        kdc = new test::Kdc();
        set_environment(kdc->environment());
        kdc->add_user("alice", "secret");
        keytab = kdc->add_service("HTTP/localhost");
    }
    static void TearDownTestSuite() {
        delete kdc;
        for (auto const* name : {"KRB5_CONFIG", "KRB5_KDC_PROFILE", "KRB5RCACHENAME", "KRB5CCNAME"}) ::unsetenv(name);
    }
    static std::unique_ptr<NegotiateSource> source(std::string const& realm = test::Kdc::realm) {
        auto loaded = NegotiateSource::load({.keytab = keytab, .realm = realm});
        EXPECT_TRUE(loaded) << loaded.fault_text();
        return loaded ? *std::move(loaded) : nullptr;
    }
    static Verdict check(NegotiateSource& source, std::string const& token) {
        auto const credentials = parse_credentials("Negotiate " + encode_base64(token));
        EXPECT_TRUE(credentials) << text_of(credentials.fault);
        return source.check(credentials, wall_now());
    }
    static inline test::Kdc* kdc = nullptr;
    static inline std::string keytab;
};

TEST_F(NegotiateTest, a_ticket_gives_the_user_once) {
    set_environment(kdc->log_in("alice", "secret"));
    auto const negotiate = source();
    for (bool const spnego : {true, false}) {
        auto const token = token_of_client(spnego);
        auto const verdict = check(*negotiate, token);
        ASSERT_EQ(verdict.kind, Outcome::accepted) << verdict.reason;
        EXPECT_EQ(verdict.facts.user, "alice");
        EXPECT_GT(verdict.facts.until, wall_now() + std::chrono::minutes(5));
        EXPECT_LT(verdict.facts.until, wall_now() + std::chrono::hours(1));
        auto const again = check(*negotiate, token);
        EXPECT_EQ(again.kind, Outcome::wrong);
        EXPECT_THAT(again.reason, HasSubstr("replay"));
    }
    EXPECT_EQ(check(*source(""), token_of_client()).facts.user, "alice@uni.example");
    EXPECT_EQ(check(*source("OTHER.EXAMPLE"), token_of_client()).facts.user, "alice@uni.example");
}

TEST_F(NegotiateTest, a_ticket_gives_the_user_once_among_all_threads) {
    set_environment(kdc->log_in("alice", "secret"));
    auto const negotiate = source();
    std::vector<std::string> tokens;
    for (int i = 0; i < 20; ++i) tokens.push_back(token_of_client());
    constexpr int threads = 4;
    std::atomic<int> accepted{0}, replays{0};
    auto const check_all = [&] {
        for (auto const& token : tokens) {
            auto const verdict = check(*negotiate, token);
            bool const is_replay = verdict.reason.find("replay") != std::string::npos;
            accepted += verdict.kind == Outcome::accepted ? 1 : 0;
            replays += verdict.kind == Outcome::wrong && is_replay ? 1 : 0;
        }
    };
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i) all.emplace_back(check_all);
    for (auto& thread : all) thread.join();
    EXPECT_EQ(accepted, 20);
    EXPECT_EQ(replays, 20 * (threads - 1));
}

TEST_F(NegotiateTest, a_large_ticket_is_accepted) {
    set_environment(kdc->log_in("alice", "secret"));
    get_large_ticket(60'000);
    auto const token = token_of_client();
    ASSERT_GT(token.size(), 60'000u);
    ASSERT_LE(token.size(), Credentials::negotiate_max);
    auto const verdict = check(*source(), token);
    EXPECT_EQ(verdict.kind, Outcome::accepted) << verdict.reason;
}

TEST_F(NegotiateTest, damaged_and_foreign_tokens_are_refused_with_a_reason) {
    set_environment(kdc->log_in("alice", "secret"));
    auto const negotiate = source();
    auto token = token_of_client();
    for (auto const& bad :
         {std::string("x"), std::string(1'000, '\x60'), token.substr(0, token.size() / 2), std::string("\x60\x03\x06\x01\x2a")}) {
        auto const verdict = check(*negotiate, bad);
        EXPECT_EQ(verdict.kind, Outcome::wrong);
        EXPECT_FALSE(verdict.reason.empty());
    }
    token[token.size() - 10] = static_cast<char>(token[token.size() - 10] ^ 1);
    EXPECT_EQ(check(*negotiate, token).kind, Outcome::wrong);
}

TEST_F(NegotiateTest, an_expired_ticket_is_refused) {
    kdc->set_clock_skew(1);
    set_environment(kdc->log_in("alice", "secret", "2s"));
    auto const negotiate = source();
    auto const token = token_of_client();
    ASSERT_FALSE(token.empty());
    std::this_thread::sleep_for(milliseconds{4'500});
    auto const verdict = check(*negotiate, token);
    kdc->set_clock_skew(300);
    EXPECT_EQ(verdict.kind, Outcome::wrong);
    EXPECT_THAT(verdict.reason, testing::AnyOf(HasSubstr("expired"), HasSubstr("Clock skew")));
}

TEST_F(NegotiateTest, a_missing_or_empty_keytab_is_a_fault) {
    for (auto const& file : {kdc->path("none"), kdc->path("krb5.conf")}) {
        auto const loaded = NegotiateSource::load({.keytab = file, .realm = ""});
        ASSERT_FALSE(loaded) << file;
        EXPECT_THAT(loaded.fault().text(), HasSubstr("cannot be used"));
    }
}

TEST_F(NegotiateTest, the_result_has_the_groups_and_is_not_remembered) {
    set_environment(kdc->log_in("alice", "secret"));
    Authenticator authenticator;
    use(authenticator,
        load({.sources = {NegotiateOptions{keytab, test::Kdc::realm}}, .groups = {{.name = "staff", .users = {"alice"}}}}));
    auto const field = "Negotiate " + encode_base64(token_of_client());
    auto const answer = log_in(authenticator, field);
    ASSERT_EQ(answer.kind, LoginAnswer::Kind::accepted) << answer.reason;
    EXPECT_EQ(answer.identity->groups, std::vector<std::string>{"staff"});
    EXPECT_EQ(log_in(authenticator, field).kind, LoginAnswer::Kind::rejected);   // a replay
}

TEST(Principals, lose_the_configured_realm_only) {
    EXPECT_EQ(user_of_principal("Alice@UNI.EXAMPLE", "UNI.EXAMPLE"), "alice");
    EXPECT_EQ(user_of_principal("alice@OTHER", "UNI.EXAMPLE"), "alice@other");
    EXPECT_EQ(user_of_principal("alice\\@UNI.EXAMPLE@OTHER", "UNI.EXAMPLE"), "alice\\@uni.example@other");
    EXPECT_EQ(user_of_principal("alice@UNI.EXAMPLE", ""), "alice@uni.example");
}

}   // namespace
}   // namespace garner::auth
