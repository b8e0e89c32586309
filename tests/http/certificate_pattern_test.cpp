#include "http/certificate_pattern.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace garner::http {
namespace {

bool matches(std::string_view pattern, std::vector<std::string> const& names) {
    auto const parsed = CertificatePattern::parse(pattern);
    EXPECT_TRUE(parsed) << pattern;
    return parsed && parsed->matches(names);
}

TEST(CertificatePattern, a_name_is_one_of_the_names_in_any_case) {
    EXPECT_TRUE(matches("alice@example.org", {"desk.example.org", "Alice@Example.org"}));
    EXPECT_TRUE(matches("spiffe://example.org/crawler", {"spiffe://example.org/crawler"}));
    EXPECT_FALSE(matches("alice@example.org", {"bob@example.org"}));
    EXPECT_FALSE(matches("alice", {}));
}

TEST(CertificatePattern, an_international_host_matches_its_ascii_form) {
    EXPECT_TRUE(matches("bücher.example", {"xn--bcher-kva.example"}));
    EXPECT_TRUE(matches(".bücher.example", {"desk.xn--bcher-kva.example"}));
    EXPECT_TRUE(matches("alice@bücher.example", {"alice@xn--bcher-kva.example"}));
    EXPECT_TRUE(matches("Jörg Müller", {"Jörg Müller"})) << "a CN";
    EXPECT_FALSE(matches("bücher.example", {"bucher.example"}));
}

TEST(CertificatePattern, a_domain_is_the_domain_itself_and_every_DNS_name_below_it) {
    EXPECT_TRUE(matches(".example.org", {"example.org"}));
    EXPECT_TRUE(matches(".example.org", {"a.b.Example.org"}));
    EXPECT_FALSE(matches(".example.org", {"badexample.org"}));
    EXPECT_FALSE(matches(".example.org", {".example.org.evil"}));
    EXPECT_FALSE(matches(".example.org", {"mallory@a.example.org"}));
    EXPECT_FALSE(matches(".example.org", {"urn:a.example.org"}));
    EXPECT_FALSE(matches(".example.org", {"Mallory of a.example.org"}));
}

TEST(CertificatePattern, any_is_every_certificate) {
    EXPECT_TRUE(matches("any", {"whoever"}));
    EXPECT_FALSE(matches("any", {}));
}

TEST(CertificatePattern, nothing_and_control_characters_are_no_pattern) {
    for (std::string_view const text : {"", ".", " alice", "alice ", "a\nb"}) EXPECT_FALSE(CertificatePattern::parse(text)) << text;
}

}   // namespace
}   // namespace garner::http
