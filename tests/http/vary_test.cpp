#include "http/vary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/heads.hpp"
#include "util/sip_hash.hpp"

namespace garner::http {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Vary, a_star_anywhere_makes_the_whole_a_star) {
    Fields const cases[] = {
        fields({{"Vary", "*"}}),
        fields({{"Vary", "*, *"}}),
        fields({{"Vary", "*"}, {"Vary", "*"}}),
        fields({{"Vary", ", *"}}),
        fields({{"Vary", ""}, {"Vary", "*"}}),
        fields({{"Vary", "*, Foo"}}),
        fields({{"Vary", "Foo, *"}}),
        fields({{"Vary", "Foo"}, {"Vary", "Bar,*"}}),
        fields({{"Vary", "Foo Bar"}}),
        fields({{"Vary", "\"Foo\""}}),
    };
    for (auto const& lines : cases) {
        auto const vary = parse_vary(lines);
        EXPECT_TRUE(vary.star);
        EXPECT_FALSE(vary.empty());
        EXPECT_THAT(vary.names, IsEmpty());
        EXPECT_EQ(to_string(vary), "*");
    }
}

TEST(Vary, what_selects_nothing_is_told_apart) {
    using enum VaryNames::Never;
    std::string many = "a0";
    for (int i = 1; i < 33; ++i) many += ", a" + std::to_string(i);
    EXPECT_EQ(parse_vary("a").never, no);
    EXPECT_EQ(parse_vary("a b, *").never, star);
    EXPECT_EQ(parse_vary("*, a b").never, star);
    EXPECT_EQ(parse_vary("a b, " + many).never, malformed);
    EXPECT_EQ(parse_vary(many).never, too_long);
    EXPECT_TRUE(parse_vary(many).star);
}

TEST(Vary, names_are_lower_cased_sorted_and_said_once) {
    auto const vary = parse_vary(fields({{"Vary", "Foo, accept-LANGUAGE,,"}, {"vary", "foo , Bar"}}));
    EXPECT_FALSE(vary.star);
    EXPECT_THAT(vary.names, ElementsAre("accept-language", "bar", "foo"));
    EXPECT_EQ(to_string(vary), "accept-language, bar, foo");
    EXPECT_EQ(parse_vary(to_string(vary)).names, vary.names);
    EXPECT_TRUE(parse_vary(fields({})).empty());
    EXPECT_TRUE(parse_vary(fields({{"Vary", ""}})).empty());
}

TEST(Vary, requests_that_select_the_same_variant) {
    struct Case {
        std::string_view vary;
        Fields a;
        Fields b;
        bool same;
    };
    Case const cases[] = {
        {"Foo", fields({{"Foo", "1"}}), fields({{"Foo", "1"}}), true},
        {"Foo", fields({{"Foo", "1"}}), fields({{"foo", "1"}}), true},
        {"Foo", fields({{"Foo", "1"}, {"Other", "2"}}), fields({{"Other", "3"}, {"Foo", "1"}}), true},
        {"Foo", fields({{"Foo", "1"}}), fields({{"Foo", "2"}}), false},
        {"Foo", fields({{"Foo", "a"}}), fields({{"Foo", "A"}}), false},
        {"Foo", fields({{"Foo", "1"}}), fields({}), false},
        {"Foo", fields({{"Foo", ""}}), fields({}), false},
        {"Foo", fields({}), fields({{"Bar", "1"}}), true},
        {"Foo", fields({{"Foo", "1, 2"}}), fields({{"Foo", "1,2"}}), true},
        {"Foo", fields({{"Foo", "1, 2"}}), fields({{"Foo", "1"}, {"Foo", "2"}}), true},
        {"Foo", fields({{"Foo", "1, 2"}}), fields({{"Foo", "2, 1"}}), false},
        {"Foo", fields({{"Foo", "1 2"}}), fields({{"Foo", "12"}}), false},
        {"Foo", fields({{"Foo", "1,,2"}}), fields({{"Foo", "1,2"}}), false},
        {"Foo", fields({{"Foo", ""}, {"Foo", "1"}}), fields({{"Foo", "1"}}), false},
        {"Foo", fields({{"Foo", "\"1, 2\""}}), fields({{"Foo", "\"1,2\""}}), false},
        {"Foo", fields({{"Foo", "\"a\\\", b\""}}), fields({{"Foo", "\"a\\\",b\""}}), false},
        {"Foo, Bar", fields({{"Foo", "1"}, {"Bar", "2"}}), fields({{"Bar", "2"}, {"Foo", "1"}}), true},
        {"Foo, Bar", fields({{"Foo", "1"}, {"Bar", "2"}}), fields({{"Bar", "1"}, {"Foo", "2"}}), false},
        {"Foo, Bar", fields({{"Foo", "1"}}), fields({{"Bar", "1"}}), false},
        {"Foo, Bar", fields({{"Foo", "1"}}), fields({{"Foo", "1"}}), true},
        {"Cookie", fields({{"Cookie", "a=b"}}), fields({{"Cookie", "a=B"}}), false},
        {"Accept-Language", fields({{"Accept-Language", "en, de"}}), fields({{"Accept-Language", "de, en"}}), true},
        {"Accept-Language", fields({{"Accept-Language", "en, de"}}), fields({{"Accept-Language", "eN, De"}}), true},
        {"Accept-Language", fields({{"Accept-Language", "en, de"}}), fields({{"Accept-Language", " en ,   de"}}), true},
        {"Accept-Language", fields({{"Accept-Language", "en, de"}}), fields({{"Accept-Language", "de"}, {"Accept-Language", "en"}}),
         true},
        {"Accept-Language", fields({{"Accept-Language", "en;q=0.5"}}), fields({{"Accept-Language", "en ; Q=0.5"}}), true},
        {"Accept-Language", fields({{"Accept-Language", "en;q=0.5"}}), fields({{"Accept-Language", "en;q=0.6"}}), false},
        {"Accept-Language", fields({{"Accept-Language", ""}}), fields({}), false},
        {"Accept-Encoding", fields({{"Accept-Encoding", "gzip, br"}}), fields({{"Accept-Encoding", "GZIP,br"}}), true},
        {"Accept-Encoding", fields({{"Accept-Encoding", "gzip, br"}}), fields({{"Accept-Encoding", "br, gzip"}}), false},
        {"Accept-Encoding", fields({{"Accept-Encoding", "gzip;q=1"}}), fields({{"Accept-Encoding", "gzip; q=1"}}), true},
        {"Accept-Encoding", fields({{"Accept-Encoding", "gzip"}}), fields({{"Accept-Encoding", "br"}}), false},
    };
    for (auto const& c : cases)
        EXPECT_EQ(variant_key(c.vary, c.a) == variant_key(c.vary, c.b), c.same)
            << variant_key(c.vary, c.a) << variant_key(c.vary, c.b);
}

TEST(Vary, the_key_does_not_depend_on_how_vary_is_written) {
    auto const head = fields({{"A", "1"}, {"B", "2"}});
    EXPECT_EQ(variant_key("a, b", head), variant_key("B,A, b", head));
    EXPECT_NE(variant_key("a", head), variant_key("a, b", head));
    EXPECT_EQ(variant_key("", head), "");
}

TEST(Vary, a_secret_is_no_readable_part_of_a_key) {
    for (auto name : {"Cookie", "Authorization", "Set-Cookie", "X-Api-Key", "X-Auth-Token", "X-CSRF-Token"}) {
        auto const key = variant_key(name, fields({{name, "hunter2"}}));
        EXPECT_EQ(key.find("hunter2"), key.npos) << name;
        EXPECT_EQ(key, variant_key(name, fields({{name, "hunter2"}}))) << name;
        EXPECT_NE(key, variant_key(name, fields({{name, "hunter3"}}))) << name;
        EXPECT_NE(key, variant_key(name, fields({}))) << name;
    }
    EXPECT_EQ(variant_key("Cookie", fields({})), "cookie\n") << "the key does not change with a restart";
    EXPECT_EQ(variant_key("Accept, X-Page", fields({{"Accept", "a"}, {"X-Page", "2"}})), "accept:a\nx-page:2\n");
}

TEST(Vary, the_hops_own_credentials_select_nothing) {
    EXPECT_EQ(parse_vary("Accept, Proxy-Authorization").never, VaryNames::Never::hop_credentials);
}

TEST(Vary, a_coding_and_the_operator_add_names) {
    std::vector<std::string> const own{"X-Page"};
    EXPECT_THAT(effective_vary(fields({{"Content-Encoding", "gzip"}, {"Vary", "Accept"}}), {}).names,
                ElementsAre("accept", "accept-encoding"));
    EXPECT_THAT(effective_vary(fields({{"Content-Encoding", "gzip"}, {"Vary", "Accept-Encoding"}}), own).names,
                ElementsAre("accept-encoding", "x-page"));
    EXPECT_THAT(effective_vary(fields({}), {}).names, IsEmpty());
    EXPECT_TRUE(effective_vary(fields({{"Vary", "*"}}), own).star);
}

// Appendix A of the paper, and the test vectors of its reference code.
TEST(SipHash, is_that_of_its_authors) {
    SipKey const key{0x0706050403020100, 0x0f0e0d0c0b0a0908};
    EXPECT_EQ(sip_hash("", key), (SipDigest{0xe6a825ba047f81a3, 0x930255c71472f66d}));
    EXPECT_EQ(sip_hash(std::string_view("\0", 1), key), (SipDigest{0x44af996bd8c187da, 0x45fc229b11597634}));
}

}   // namespace
}   // namespace garner::http
