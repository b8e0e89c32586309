#include "util/ip.hpp"

#include <gtest/gtest.h>

namespace garner {
namespace {

TEST(Ip, text_survives_the_round_trip) {
    for (char const* text : {"0.0.0.0", "127.0.0.1", "255.255.255.255", "::", "::1", "2001:db8::1", "fe80::1"}) {
        auto const address = parse_ip(text);
        ASSERT_TRUE(address) << text;
        EXPECT_EQ(address->text(), text);
    }
}

TEST(Ip, what_is_no_plain_address_is_refused) {
    for (char const* text :
         {"",          "127.1",      "0177.0.0.1", "1.2.3.4.5",         "256.0.0.1", "1.2.3.4 ", "[::1]",  "fe80::1%lo", ":::",
          "localhost", "2130706433", "1.2.3.4/8",  "::ffff:1.2.3.4.5",  "1.2.3.",    "1.2.3",    ".1.2.3", "1..2.3",     "01.2.3.4",
          "1.2.3.00",  "1.2.3.0001", "1.2.3.-4",   "1.2.3.999999999999"})
        EXPECT_FALSE(parse_ip(text)) << text;
    EXPECT_FALSE(parse_ip(std::string_view("1.2.3.4\0", 8)));
    EXPECT_FALSE(parse_ip(std::string(200, ':')));
}

TEST(Ip, a_mapped_address_is_the_ipv4_address) {
    EXPECT_EQ(parse_ip("::ffff:127.0.0.1"), parse_ip("127.0.0.1"));
    EXPECT_TRUE(parse_ip("::ffff:7f00:1")->is_v4());
    EXPECT_TRUE(parse_ip("::ffff:7f00:1")->is_loopback());
    EXPECT_FALSE(parse_ip("::1")->is_v4());
    EXPECT_EQ(IpAddress::v4(0x7f000001), IpAddress::v4(127, 0, 0, 1));
}

TEST(Ip, loopback_and_unspecified) {
    EXPECT_TRUE(parse_ip("127.255.0.1")->is_loopback());
    EXPECT_TRUE(parse_ip("::1")->is_loopback());
    EXPECT_FALSE(parse_ip("128.0.0.1")->is_loopback());
    EXPECT_FALSE(parse_ip("1::1")->is_loopback());
    EXPECT_TRUE(parse_ip("::")->is_unspecified());
    EXPECT_TRUE(parse_ip("0.0.0.0")->is_unspecified());
    EXPECT_FALSE(parse_ip("0.0.0.1")->is_unspecified());
    EXPECT_FALSE(parse_ip("::ff:0.0.0.0")->is_unspecified());
}

TEST(Ip, networks_contain_what_shares_their_prefix) {
    struct Row {
        char const* network;
        char const* address;
        bool contains;
    };
    for (Row const& row :
         {Row{"10.0.0.0/8", "10.255.0.1", true}, Row{"10.0.0.0/8", "11.0.0.0", false}, Row{"10.0.0.0/9", "10.127.0.0", true},
          Row{"10.0.0.0/9", "10.128.0.0", false}, Row{"127.0.0.1", "127.0.0.1", true}, Row{"127.0.0.1", "127.0.0.2", false},
          Row{"0.0.0.0/0", "8.8.8.8", true}, Row{"0.0.0.0/0", "2001:db8::1", false}, Row{"::/0", "8.8.8.8", true},
          Row{"::/0", "2001:db8::1", true}, Row{"2001:db8::/33", "2001:db8:7fff::", true},
          Row{"2001:db8::/33", "2001:db8:8000::", false}, Row{"::1", "::1", true}, Row{"::ffff:10.0.0.0/104", "10.1.1.1", true}})
        EXPECT_EQ(parse_network(row.network)->contains(*parse_ip(row.address)), row.contains) << row.network << " " << row.address;
}

TEST(Ip, networks_are_read_and_written) {
    for (char const* text : {"10.0.0.0/8", "127.0.0.1", "::1", "fe80::/10", "0.0.0.0/0", "::/0"})
        EXPECT_EQ(parse_network(text)->text(), text);
    for (char const* text : {"10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/", "/8", "10.0.0.0/8/8", "::/129", "10/8", "10.0.0.0/-1",
                             "10.0.0.0/255.0.0.0", ""})
        EXPECT_FALSE(parse_network(text)) << text;
}

TEST(Ip, endpoints_put_ipv6_in_brackets) {
    EXPECT_EQ((IpEndpoint{*parse_ip("127.0.0.1"), 80}.text()), "127.0.0.1:80");
    EXPECT_EQ((IpEndpoint{*parse_ip("::1"), 3128}.text()), "[::1]:3128");
}

TEST(IpAddress, first_bits_are_what_one_client_shares) {
    auto first = [](char const* text, unsigned bits4, unsigned bits6) { return first_bits(*parse_ip(text), bits4, bits6).text(); };
    EXPECT_EQ(first("10.1.2.3", 32, 64), "10.1.2.3");
    EXPECT_EQ(first("10.1.255.3", 20, 64), "10.1.240.0");
    EXPECT_EQ(first("10.1.2.3", 0, 0), "0.0.0.0");
    EXPECT_EQ(first("2001:db8:1:2:3:4:5:6", 32, 64), "2001:db8:1:2::");
    EXPECT_EQ(first("2001:db8:1:2:3:4:5:6", 32, 128), "2001:db8:1:2:3:4:5:6");
    EXPECT_EQ(first("2001:db8:1:ffff::1", 32, 52), "2001:db8:1:f000::");
}

}   // namespace
}   // namespace garner
