#include "http/host_pattern.hpp"

#include <gtest/gtest.h>

#include <string>

namespace garner::http {
namespace {

HostPattern pattern(char const* text) { return *HostPattern::parse(text); }

TEST(HostPattern, matches_a_name_or_a_domain) {
    EXPECT_TRUE(pattern("Example.COM").matches("example.com"));
    EXPECT_TRUE(pattern("example.com").matches("example.com."));
    EXPECT_TRUE(pattern("example.com.").matches("EXAMPLE.com"));
    EXPECT_FALSE(pattern("example.com").matches("www.example.com"));
    EXPECT_TRUE(pattern(".example.com").matches("www.example.com."));
    EXPECT_TRUE(pattern(".example.com").matches("example.com"));
    EXPECT_FALSE(pattern(".example.com").matches("badexample.com"));
    EXPECT_FALSE(pattern(".example.com").matches("com"));
    EXPECT_FALSE(pattern(".example.com").matches(""));
    EXPECT_TRUE(pattern("::1").matches("::1"));
    for (char const* text : {"", ".", "*.example.com", "http://a", "a b", "a/b", "[::1]", "127.0.0.01", "127.1", "0x7f.1",
                             "a.example:8080", "127.0.0.1:80"})
        EXPECT_FALSE(HostPattern::parse(text)) << text;
}

TEST(HostPattern, an_international_name_is_compared_in_ascii) {
    EXPECT_TRUE(pattern("bücher.example").matches("xn--bcher-kva.example"));
    EXPECT_TRUE(pattern("BÜCHER.example.").matches("XN--Bcher-KVA.example"));
    EXPECT_TRUE(pattern(".bücher.example").matches("www.xn--bcher-kva.example"));
    EXPECT_TRUE(pattern("faß.example").matches("xn--fa-hia.example"));
    EXPECT_TRUE(pattern("１２７.0.0.1").matches("127.0.0.1")) << "full-width digits";
    EXPECT_FALSE(pattern("bücher.example").matches("bucher.example"));
    EXPECT_EQ(pattern("bücher.example").text(), "xn--bcher-kva.example");
}

TEST(HostPattern, a_host_filter_of_adblock_is_a_domain) {
    for (char const* host : {"ads.example", "www.ads.example"}) EXPECT_TRUE(pattern("||ads.example^").matches(host)) << host;
    EXPECT_FALSE(pattern("||ads.example^").matches("badads.example"));
    EXPECT_TRUE(pattern("||bücher.example^").matches("www.xn--bcher-kva.example"));
    EXPECT_TRUE(pattern("||192.0.2.1^").matches("192.0.2.1"));
}

TEST(HostPattern, what_no_host_of_a_url_looks_like_is_refused_with_a_fix) {
    struct Row {
        std::string text;
        char const* why;
        char const* mend;
    };
    for (auto const& [text, why, mend] : {
             Row{"||ads.example", "Adblock", "write \"ads.example\""},
             Row{"|x", "Adblock", "write \"x\""},
             Row{"||ads.example^$third-party", "Adblock", "write \"ads.example\""},
             Row{"@@||ads.example^", "exception", "allow rule"},
             Row{"\"ads.example\"", "character", "write"},
             Row{"{ads}.example", "character", "write"},
             Row{"ads%zz.example", "character", "write"},
             Row{"b%C3%BCcher.example", "character", "write"},
             Row{"ads,example", "character", "write"},
             Row{"http://ads.example:80/x", "URL", "write \"ads.example\""},
             Row{"ads.example/x", "path", "write \"ads.example\""},
             Row{"ads.example:8080", "port", "write \"ads.example\""},
             Row{"10.0.0.0/8", "network", "destination"},
             Row{"*.ads.example", "wildcard", "write \".ads.example\""},
             Row{"ads*.example", "wildcard", "host_matches"},
             Row{"a.example b.example", "space", "each"},
             Row{"[::1]", "brackets", "write \"::1\""},
             Row{"ads..example", "dots", "write"},
             Row{"..example", "dots", "write"},
             Row{"127.1", "number", "write"},
             Row{std::string(64, 'a') + ".example", "63", "write"},
             Row{std::string(50, 'a') + "." + std::string(50, 'b') + "." + std::string(50, 'c') + "." + std::string(50, 'd') + "." +
                     std::string(50, 'e'),
                 "253", "write"},
             Row{"b\xfc"
                 "cher.example",
                 "international", "correct"},
             Row{"", "empty", "write"},
         }) {
        EXPECT_FALSE(HostPattern::parse(text)) << text;
        auto const fault = HostPattern::fault_of(text);
        EXPECT_NE(fault.what.find(why), std::string::npos) << text << ": " << fault.what;
        EXPECT_NE(fault.mend.find(mend), std::string::npos) << text << ": " << fault.mend;
    }
    for (char const* text : {"a_b.example", "-a.example", "a--b.example", "xn--bcher-kva.example", ".com", "localhost"})
        EXPECT_TRUE(HostPattern::parse(text)) << text;
}

TEST(HostPattern, an_address_is_the_same_in_every_spelling) {
    EXPECT_TRUE(pattern("127.0.0.1").matches("127.0.0.1"));
    EXPECT_TRUE(pattern("127.0.0.1").matches("127.0.0.1."));
    EXPECT_TRUE(pattern("127.0.0.1.").matches("127.0.0.1"));
    EXPECT_TRUE(pattern("::ffff:127.0.0.1").matches("127.0.0.1"));
    EXPECT_TRUE(pattern("::1").matches("0:0::0001"));
    EXPECT_TRUE(pattern("2001:DB8::a").matches("2001:0db8:0::A"));
    EXPECT_FALSE(pattern("127.0.0.1").matches("127.0.0.10"));
    EXPECT_FALSE(pattern("127.0.0.1").matches("x.127.0.0.1.example"));
    EXPECT_FALSE(pattern("::1").matches("::10"));
    EXPECT_FALSE(pattern("::1").matches("localhost"));
}

}   // namespace
}   // namespace garner::http
