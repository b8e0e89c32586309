#include "bump/mimic.hpp"

#include <gtest/gtest.h>
#include <openssl/x509_vfy.h>

#include "ca_scene.hpp"

namespace garner::bump {
namespace {

using AnswerKind = InvalidAnswer::Kind;
using std::chrono::days;
using Names = std::vector<std::string>;

Likeness of_origin(Names names, int from_days = -10, int until_days = 100) {
    auto const now = wall_now();
    return {std::move(names), now + days(from_days), now + days(until_days)};
}

/// Origins that a client refuses, and the reason that OpenSSL gives it for the certificate by which Garner answers.
TEST(Mimic, shows_the_error_of_the_origin) {
    CaScene const scene;
    ASSERT_EQ(scene.init({".example.org"}).fault_text(), "");
    auto const authority = scene.authority();
    struct Row {
        OriginError error;
        Likeness origin;
        Signer signer;
        char const* reason;
    };
    for (Row const& row :
         {Row{OriginError::outside_dates, of_origin({"www.example.org"}, -20, -10), Signer::ca, "certificate has expired"},
          Row{OriginError::outside_dates, of_origin({"www.example.org"}, 10, 20), Signer::ca, "certificate is not yet valid"},
          Row{OriginError::wrong_name, of_origin({"other.example.org"}), Signer::ca, "hostname mismatch"},
          Row{OriginError::untrusted, of_origin({"www.example.org"}), Signer::throwaway, "unable to get local issuer certificate"},
          // An intermediate has expired: with the dates of the leaf the certificate would be valid.
          Row{OriginError::outside_dates, of_origin({"www.example.org"}), Signer::throwaway,
              "unable to get local issuer certificate"},
          // The names may match for a client that is less strict than Garner.
          Row{OriginError::wrong_name, of_origin({"w*.example.org"}), Signer::throwaway, "unable to get local issuer certificate"},
          Row{OriginError::wrong_name, of_origin({"*.org"}), Signer::throwaway, "unable to get local issuer certificate"},
          // The CA may not sign for the names of the origin.
          Row{OriginError::wrong_name, of_origin({"www.example.net"}), Signer::throwaway, "unable to get local issuer certificate"},
          Row{OriginError::wrong_name, of_origin({}), Signer::throwaway, "unable to get local issuer certificate"}}) {
        auto const answer =
            answer_invalid(Invalid::mimic, row.error, row.origin, "www.example.org", authority->constraints(), wall_now());
        EXPECT_EQ(answer.kind, AnswerKind::certificate);
        EXPECT_EQ(answer.signer, row.signer);
        EXPECT_EQ(answer.likeness, row.origin);
        auto const minted = authority->mint(answer.likeness, answer.signer, wall_now());
        EXPECT_EQ(scene.verdict(leaf_of(*minted).get(), "www.example.org"), row.reason);
    }
}

TEST(Mimic, never_makes_an_invalid_origin_valid) {
    CaScene const scene;
    ASSERT_EQ(scene.init().fault_text(), "");
    auto const authority = scene.authority();
    Names const hosts{"www.example.org", "*.example.org",   "w*.example.org", "*w.example.org", "*",
                      "example.org",     "WWW.EXAMPLE.ORG", "192.0.2.1"};
    for (auto const error : {OriginError::outside_dates, OriginError::wrong_name, OriginError::untrusted})
        for (auto const& name : hosts)
            for (auto const& [from, until] : {std::pair(-10, 10), std::pair(-10, -1), std::pair(1, 10), std::pair(10, -10)}) {
                auto const answer = answer_invalid(Invalid::mimic, error, of_origin({name}, from, until), "www.example.org",
                                                   authority->constraints(), wall_now());
                auto const minted = authority->mint(answer.likeness, answer.signer, wall_now());
                EXPECT_NE(scene.verdict(leaf_of(*minted).get(), "www.example.org"), "OK")
                    << name << " from " << from << " to " << until;
            }
}

TEST(Mimic, a_page_has_a_valid_certificate_for_the_host_alone) {
    CaScene const scene;
    ASSERT_EQ(scene.init().fault_text(), "");
    auto const authority = scene.authority();
    for (auto const* host : {"www.example.org", "192.0.2.1"}) {
        auto const answer = answer_invalid(Invalid::page, OriginError::untrusted, of_origin({"a.example", "b.example"}), host,
                                           authority->constraints(), wall_now());
        EXPECT_EQ(answer.kind, AnswerKind::page);
        EXPECT_EQ(answer.likeness.names, Names{host});
        EXPECT_EQ(scene.verdict(leaf_of(*authority->mint(answer.likeness, answer.signer, wall_now())).get(), host), "OK");
    }
    EXPECT_EQ(answer_invalid(Invalid::terminate, OriginError::untrusted, {}, "www.example.org", {}, wall_now()).kind,
              AnswerKind::terminate);
}

TEST(Mimic, the_result_of_the_verification_is_one_of_three_errors) {
    EXPECT_EQ(origin_error(X509_V_ERR_CERT_HAS_EXPIRED), OriginError::outside_dates);
    EXPECT_EQ(origin_error(X509_V_ERR_CERT_NOT_YET_VALID), OriginError::outside_dates);
    EXPECT_EQ(origin_error(X509_V_ERR_HOSTNAME_MISMATCH), OriginError::wrong_name);
    EXPECT_EQ(origin_error(X509_V_ERR_IP_ADDRESS_MISMATCH), OriginError::wrong_name);
    for (long const other : {X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
                             X509_V_ERR_CERT_REVOKED, X509_V_ERR_CERT_SIGNATURE_FAILURE, X509_V_ERR_UNSPECIFIED})
        EXPECT_EQ(origin_error(other), OriginError::untrusted);
}

TEST(Likeness, has_the_names_and_dates_of_a_certificate) {
    test::IssuedCertificate const origin({.names = "DNS:WWW.example.org,DNS:*.example.org,IP:192.0.2.1,DNS:a b,email:x@example.org",
                                          .valid_from = -7'200,
                                          .valid_until = 86'400});
    auto const likeness = likeness_of(origin.x509());
    EXPECT_EQ(likeness.names, (Names{"www.example.org", "*.example.org", "192.0.2.1"}));
    EXPECT_NEAR(static_cast<double>(unix_seconds(likeness.begin)), static_cast<double>(unix_seconds(wall_now()) - 7'200), 5);
    EXPECT_NEAR(static_cast<double>(unix_seconds(likeness.end)), static_cast<double>(unix_seconds(wall_now()) + 86'400), 5);
}

TEST(Likeness, of_a_valid_origin_is_cut_to_thirty_days_and_to_the_constraints) {
    CaScene const scene;
    ASSERT_EQ(scene.init({".example.org"}).fault_text(), "");
    auto const constraints = scene.authority()->constraints();
    auto const now = wall_now();
    auto const kept =
        for_valid_origin(of_origin({"example.net", "*.example.org", "192.0.2.1"}, -200, 200), "www.example.org", constraints, now);
    EXPECT_EQ(kept.names, Names{"*.example.org"});
    EXPECT_EQ(kept.begin, std::chrono::floor<days>(now) - days(1));
    EXPECT_EQ(kept.end - kept.begin, days(30));
    EXPECT_EQ(for_valid_origin(of_origin({"*.example.org"}), "a.b.example.org", constraints, now).names,
              (Names{"a.b.example.org", "*.example.org"}));
    EXPECT_EQ(for_valid_origin(of_origin({"*.org"}), "WWW.example.org.", constraints, now).names, Names{"www.example.org"});
    auto const brief = of_origin({"www.example.org"}, 0, 1);
    EXPECT_EQ(for_valid_origin(brief, "www.example.org", constraints, now), brief);
    EXPECT_EQ(for_valid_origin(of_origin(Names(300, "a.example.org")), "www.example.org", {}, now).names.size(),
              Likeness::names_max);
}

}   // namespace
}   // namespace garner::bump
