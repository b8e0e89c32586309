#include "http/host_pattern.hpp"

#include <gtest/gtest.h>

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
