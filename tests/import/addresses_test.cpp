#include "import/addresses.hpp"

#include <gtest/gtest.h>

#include <random>

namespace garner::importing {
namespace {

using Texts = std::vector<std::string>;

AddressSet set_of(std::initializer_list<char const*> texts) {
    AddressSet set;
    for (auto const* text : texts) {
        auto const ranges = parse_addresses(text);
        EXPECT_TRUE(ranges) << text;
        if (ranges) set = set.united(AddressSet(*ranges));
    }
    return set;
}

TEST(Addresses, values_of_squid_become_networks) {
    EXPECT_EQ(set_of({"10.0.0.1"}).texts(), Texts{"10.0.0.1"});
    EXPECT_EQ(set_of({"10.1.2.3/8"}).texts(), Texts{"10.0.0.0/8"}) << "host bits do not count";
    EXPECT_EQ(set_of({"10.1.2.3/255.255.255.0"}).texts(), Texts{"10.1.2.0/24"});
    EXPECT_EQ(set_of({"0.0.0.1-0.255.255.255"}).networks().size(), 24u);
    EXPECT_EQ(set_of({"10.0.1.0-10.0.2.0/24"}).texts(), (Texts{"10.0.1.0/24", "10.0.2.0/24"}));
    EXPECT_EQ(set_of({"2001:db8::7/32"}).texts(), Texts{"2001:db8::/32"});
    for (auto const* text : {"all", "0.0.0.0/0", "0.0.0.0/0.0.0.0", "0.0.0.0-255.255.255.255"})
        EXPECT_TRUE(set_of({text}).is_all()) << text;
}

TEST(Addresses, names_and_masks_with_gaps_are_faults) {
    for (auto const* text : {"host.example", "10.1", "10.0.0.0/255.0.255.0", "10.0.0.0/33", "::1/129", "10.0.0.9-10.0.0.1",
                             "10.0.0.1-::1", "10.0.0.0/0", "::/0", "ipv4", "", "-", "/", "10.0.0.1/"})
        EXPECT_FALSE(parse_addresses(text)) << text;
}

TEST(Addresses, sets_are_united_and_cut) {
    auto const lab = set_of({"192.0.2.0/24"}), half = set_of({"192.0.2.128/25"});
    EXPECT_EQ(lab.without(half).texts(), Texts{"192.0.2.0/25"});
    EXPECT_EQ(lab.common(half).texts(), Texts{"192.0.2.128/25"});
    EXPECT_EQ(lab.without(half).united(half).texts(), lab.texts());
    EXPECT_TRUE(lab.without(AddressSet::all()).empty());
    EXPECT_TRUE(AddressSet::all().without(lab).united(lab).is_all());
    EXPECT_EQ(AddressSet::all().texts(), Texts{"::/0"});
}

TEST(Addresses, random_sets_agree_with_single_addresses) {
    std::mt19937 random(3);
    auto const address = [](unsigned low) {
        return IpAddress::v4(10, 0, static_cast<std::uint8_t>(low >> 8), static_cast<std::uint8_t>(low));
    };
    auto const random_set = [&] {
        std::vector<AddressRange> ranges;
        for (auto count = random() % 5; count > 0; --count) {
            unsigned const first = random() % 900, last = first + random() % 120;
            ranges.push_back({address(first), address(last)});
        }
        return AddressSet(std::move(ranges));
    };
    auto const has = [&](AddressSet const& set, unsigned low) { return is_among(address(low), set.networks()); };
    for (int round = 0; round < 20; ++round) {
        auto const a = random_set(), b = random_set();
        auto const both = a.common(b), any = a.united(b), rest = a.without(b);
        for (unsigned low = 0; low < 1'024; low += 13) {
            ASSERT_EQ(has(both, low), has(a, low) && has(b, low));
            ASSERT_EQ(has(any, low), has(a, low) || has(b, low));
            ASSERT_EQ(has(rest, low), has(a, low) && !has(b, low));
        }
    }
}

}   // namespace
}   // namespace garner::importing
