// The order of addresses: examples of RFC 6724 10.2.
#include "net/address_order.hpp"

#include <gtest/gtest.h>

#include <string>

namespace garner::net {
namespace {

struct Candidate {
    char const* address;
    char const* source;   // "": no route
};

/// The addresses in their order, separated by spaces.
std::string sorted(std::vector<Candidate> const& given) {
    std::vector<Destination> all;
    for (auto const& one : given) all.push_back({*parse_ip(one.address), parse_ip(one.source)});
    sort_destinations(all);
    std::string text;
    for (auto const& one : all) text += (text.empty() ? "" : " ") + one.address.text();
    return text;
}

TEST(AddressOrder, is_that_of_rfc_6724) {
    // A route comes first, then an address of the source's scope.
    EXPECT_EQ(sorted({{"2001:db8:1::1", ""}, {"198.51.100.121", "198.51.100.117"}}), "198.51.100.121 2001:db8:1::1");
    EXPECT_EQ(sorted({{"2001:db8:1::1", "fe80::1"}, {"198.51.100.121", "198.51.100.117"}}), "198.51.100.121 2001:db8:1::1");
    EXPECT_EQ(sorted({{"198.51.100.121", "169.254.13.78"}, {"2001:db8:1::1", "2001:db8:1::2"}}), "2001:db8:1::1 198.51.100.121");
    // Equal labels, then the higher precedence.
    EXPECT_EQ(sorted({{"10.1.2.3", "10.1.2.4"}, {"2001:db8:1::1", "2001:db8:1::2"}}), "2001:db8:1::1 10.1.2.3");
    EXPECT_EQ(sorted({{"2001:db8:1::1", "2002:c633:6401::2"}, {"2002:c633:6401::1", "2002:c633:6401::2"}}),
              "2002:c633:6401::1 2001:db8:1::1");
    EXPECT_EQ(sorted({{"fd00::1", "fd00::2"}, {"10.1.2.3", "10.1.2.4"}}), "10.1.2.3 fd00::1");
    // The smaller scope, then the longer common prefix, which says nothing about IPv4.
    EXPECT_EQ(sorted({{"2001:db8:1::1", "2001:db8:1::2"}, {"fe80::1", "fe80::2"}}), "fe80::1 2001:db8:1::1");
    EXPECT_EQ(sorted({{"2001:db8:3ffe::1", "2001:db8:1::2"}, {"2001:db8:1::1", "2001:db8:1::2"}}),
              "2001:db8:1::1 2001:db8:3ffe::1");
    EXPECT_EQ(sorted({{"192.0.2.200", "10.0.0.1"}, {"10.0.0.2", "10.0.0.1"}}), "192.0.2.200 10.0.0.2");
}

TEST(AddressOrder, asks_the_kernel_for_sources) {
    auto const all = with_sources({*parse_ip("127.0.0.1")});
    ASSERT_EQ(all.size(), 1u);
    ASSERT_TRUE(all.front().source);
    EXPECT_TRUE(all.front().source->is_loopback());
}

}   // namespace
}   // namespace garner::net
