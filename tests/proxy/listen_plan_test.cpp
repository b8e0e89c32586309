// Which listening addresses a change of the configuration keeps, opens and closes.
#include "proxy/listen_plan.hpp"

#include <gtest/gtest.h>

namespace garner::proxy {
namespace {

IpEndpoint at(char const* address, std::uint16_t port) { return {parse_ip(address).value(), port}; }

constexpr auto opened = ListenPlan::opened;

TEST(ListenPlan, an_address_that_stays_keeps_its_sockets_at_any_place_of_the_list) {
    std::vector<IpEndpoint> const open{at("127.0.0.1", 80), at("127.0.0.1", 81), at("::1", 80)};
    EXPECT_EQ(plan_listening(open, open), (ListenPlan{{0, 1, 2}, {}}));
    EXPECT_EQ(plan_listening(open, std::vector{at("::1", 80), at("127.0.0.1", 80)}), (ListenPlan{{2, 0}, {1}}));
    EXPECT_EQ(plan_listening({}, open), (ListenPlan{{opened, opened, opened}, {}}));
    EXPECT_EQ(plan_listening(open, std::vector<IpEndpoint>()), (ListenPlan{{}, {0, 1, 2}}));
}

TEST(ListenPlan, another_port_or_address_is_another_listener) {
    std::vector<IpEndpoint> const open{at("127.0.0.1", 80)};
    for (auto const& other : {at("127.0.0.1", 81), at("127.0.0.2", 80), at("0.0.0.0", 80), at("::", 80)})
        EXPECT_EQ(plan_listening(open, std::vector{other}), (ListenPlan{{opened}, {0}})) << other.text();
}

TEST(ListenPlan, each_free_port_is_another_one) {
    std::vector<IpEndpoint> const open{at("127.0.0.1", 0), at("127.0.0.1", 0)};
    EXPECT_EQ(plan_listening(open, open), (ListenPlan{{0, 1}, {}}));
    EXPECT_EQ(plan_listening(open, std::vector{open[0]}), (ListenPlan{{0}, {1}}));
}

TEST(ListenPlan, addresses_overlap_if_one_includes_the_other) {
    struct Case {
        char const *one, *other;
        bool overlaps;
    };
    for (auto const& [one, other, overlaps] :
         {Case{"127.0.0.1", "127.0.0.1", true}, Case{"127.0.0.1", "127.0.0.2", false}, Case{"127.0.0.1", "0.0.0.0", true},
          Case{"127.0.0.1", "::", true}, Case{"::1", "0.0.0.0", false}, Case{"::1", "::", true}, Case{"0.0.0.0", "::", true}}) {
        EXPECT_EQ(overlap(at(one, 80), at(other, 80)), overlaps) << one << " " << other;
        EXPECT_EQ(overlap(at(other, 80), at(one, 80)), overlaps) << one << " " << other;
        EXPECT_FALSE(overlap(at(one, 80), at(other, 81))) << one << " " << other;
    }
}

}   // namespace
}   // namespace garner::proxy
