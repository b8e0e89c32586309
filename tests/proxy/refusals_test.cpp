#include "proxy/refusals.hpp"

#include <gtest/gtest.h>

namespace garner::proxy {
namespace {

Refused refused(std::string id, std::uint8_t client) {
    Refused one;
    one.id = std::move(id);
    one.method = "GET";
    one.url = "http://a.example/";
    one.client = IpAddress::v4(10, 0, 0, client);
    one.rule = "access[0]: deny";
    one.because = "No games.";
    one.groups = {"students"};
    return one;
}

TEST(Refusals, has_the_latest_of_all_clients) {
    Refusals refusals;
    refusals.add(refused("1", 1));
    refusals.add(refused("2", 2));
    refusals.note(refused("3", 1));
    auto const latest = refusals.latest();
    ASSERT_EQ(latest.size(), 3u);
    EXPECT_EQ(latest[0].id, "3");
    EXPECT_EQ(latest[1].client.text(), "10.0.0.2");
    EXPECT_EQ(latest[2].rule, "access[0]: deny");
    EXPECT_TRUE(latest[2].groups.empty());
    EXPECT_EQ(refusals.of(IpAddress::v4(10, 0, 0, 1), "").size(), 1u) << "a noted one is only for the operator";
}

TEST(Refusals, are_found_by_the_beginning_of_their_id) {
    Refusals refusals;
    refusals.add(refused("123456.1", 1));
    refusals.note(refused("123457.2", 2));
    EXPECT_EQ(refusals.find("123456", 5).size(), 1u) << "not twice";
    ASSERT_EQ(refusals.find("123457", 5).size(), 1u) << "of an accelerator";
    EXPECT_EQ(refusals.find("12345", 5).size(), 2u);
    EXPECT_EQ(refusals.find("12345", 1).size(), 1u);
    EXPECT_TRUE(refusals.find("2345", 5).empty());
}

TEST(Refusals, keeps_a_bounded_number_of_short_rows) {
    Refusals refusals;
    for (std::size_t i = 0; i < 2 * Refusals::latest_max; ++i) {
        auto one = refused(std::to_string(i), static_cast<std::uint8_t>(i % 200));
        one.method = one.url = one.user = one.rule = std::string(10'000, 'x');
        refusals.add(std::move(one));
    }
    auto const latest = refusals.latest();
    ASSERT_EQ(latest.size(), Refusals::latest_max);
    EXPECT_EQ(latest.front().id, std::to_string(2 * Refusals::latest_max - 1));
    for (auto const& one : latest) EXPECT_LE(one.method.size() + one.url.size() + one.user.size() + one.rule.size(), 1'000u);
}

}   // namespace
}   // namespace garner::proxy
