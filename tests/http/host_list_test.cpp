#include "http/host_list.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "http/host_set.hpp"

namespace garner::http {
namespace {

TEST(HostList, matches_as_patterns_do) {
    HostList list(4);
    for (char const* name : {"Exact.test", ".domain.test", "10.0.0.1", "::0001", "a.b.c.deep.test"}) list.add(name);
    EXPECT_EQ(list.size(), 5u);
    for (char const* host : {"exact.test", "EXACT.test.", "domain.test", "www.domain.test", "a.b.c.d.e.domain.TEST", "10.0.0.1",
                             "::1", "0:0::1", "a.b.c.deep.test"})
        EXPECT_TRUE(list.contains(host)) << host;
    for (char const* host :
         {"www.exact.test", "xdomain.test", "test", "", ".", "10.0.0.2", "::2", "b.c.deep.test", "x.a.b.c.deep.test"})
        EXPECT_FALSE(list.contains(host)) << host;
}

TEST(HostList, equals_patterns_for_random_names_and_grows) {
    std::mt19937 random(7);
    auto const name = [&] {
        std::string text(random() % 3 == 0 ? "." : "");
        for (unsigned labels = 1 + random() % 4, i = 0; i < labels; ++i)
            text += (i ? "." : "") + std::string(1, "abcd"[random() % 4]);
        return text;
    };
    for (int round = 0; round < 300; ++round) {
        HostList list(round % 10);
        std::vector<HostPattern> patterns;
        for (int i = 0; i < round % 40; ++i) {
            patterns.push_back(*HostPattern::parse(name()));
            list.add(patterns.back().text());
        }
        HostSet const set(patterns);
        for (int i = 0; i < 100; ++i) {
            auto host = name();
            if (host.front() == '.') host.erase(0, 1);
            bool const expected = std::any_of(patterns.begin(), patterns.end(), [&](auto const& one) { return one.matches(host); });
            ASSERT_EQ(list.contains(host), expected) << host;
            ASSERT_EQ(set.contains(host), expected) << host;
        }
    }
}

TEST(HostList, takes_11_bytes_for_each_of_many_names) {
    constexpr std::size_t names = 100'000;
    HostList list(names);
    for (std::size_t i = 0; i < names; ++i) list.add(std::to_string(i) + ".advertising.example");
    EXPECT_EQ(list.size(), names);
    EXPECT_LT(list.memory_bytes(), names * 11);
    EXPECT_TRUE(list.contains("99999.advertising.example"));
    EXPECT_FALSE(list.contains("100000.advertising.example"));
    EXPECT_TRUE(HostList(0).empty());
    EXPECT_FALSE(list.contains(std::string(5'000, 'a') + ".example"));
}

}   // namespace
}   // namespace garner::http
