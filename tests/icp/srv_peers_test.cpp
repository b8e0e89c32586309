// Peers that DNS names: their order by priority and weight.
#include "icp/srv_peers.hpp"

#include <gtest/gtest.h>

#include <map>

#include "icp/neighbours.hpp"

namespace garner::icp {
namespace {

PeerOptions service(std::string name) {
    auto options = parent(std::move(name));
    options.host.clear();
    options.srv = "_http._tcp.caches.test";
    options.no_query = true;
    return options;
}

struct Servers : testing::Test, Neighbours {
    PeerView& server(std::uint16_t priority, std::uint16_t weight, std::string const& host, PeerOptions const& as = service("c")) {
        return add(server_of(as, {priority, weight, 3128, host}));
    }
    std::string chosen(std::uint32_t turn = 0) {
        mark_standby(views);
        auto asked = question();
        asked.turn = turn;
        return text_of(choose(asked, views, {}));
    }
    std::string first(std::uint32_t turn) {
        auto const all = chosen(turn);
        return all.substr(0, all.find(','));
    }
    std::map<std::string, int> firsts(unsigned turns) {
        std::map<std::string, int> count;
        for (std::uint32_t turn = 0; turn < turns; ++turn) ++count[first(turn)];
        return count;
    }
};

TEST_F(Servers, have_the_options_of_their_service_and_a_place_from_DNS) {
    auto const options = server_of(service("caches"), {10, 60, 3129, "gate1.test"});
    EXPECT_EQ(options.name, "caches/gate1.test:3129");
    EXPECT_EQ(options.host, "gate1.test");
    EXPECT_EQ(options.http, 3129);
    EXPECT_TRUE(options.no_query);
}

TEST_F(Servers, of_the_least_priority_go_first_and_the_others_before_the_origin) {
    server(20, 1, "b");
    server(10, 1, "a");
    server(30, 1, "c");
    EXPECT_EQ(chosen(), "FIRSTUP_PARENT c/a:3128, FIRSTUP_PARENT c/b:3128, FIRSTUP_PARENT c/c:3128, HIER_DIRECT");
}

TEST_F(Servers, stand_by_until_all_of_lesser_priority_are_dead_or_full) {
    server(10, 1, "a").health = Health::dead;
    server(20, 1, "b");
    server(30, 1, "c");
    EXPECT_EQ(chosen(), "FIRSTUP_PARENT c/b:3128, FIRSTUP_PARENT c/c:3128, HIER_DIRECT");
    views[1].full = true;
    EXPECT_EQ(chosen(), "FIRSTUP_PARENT c/c:3128, HIER_DIRECT");
    views[0].health = Health::alive;
    EXPECT_EQ(first(0), "FIRSTUP_PARENT c/a:3128");
    EXPECT_TRUE(views[2].standby);
}

TEST_F(Servers, of_equal_priority_get_their_shares_by_weight) {
    server(10, 60, "a");
    server(10, 30, "b");
    server(10, 10, "c");
    auto count = firsts(10'000);
    EXPECT_NEAR(count["FIRSTUP_PARENT c/a:3128"], 6'000, 250);
    EXPECT_NEAR(count["FIRSTUP_PARENT c/b:3128"], 3'000, 250);
    EXPECT_NEAR(count["FIRSTUP_PARENT c/c:3128"], 1'000, 150);
}

TEST_F(Servers, of_weight_zero_get_a_small_share_beside_others_and_equal_ones_alone) {
    server(10, 0, "a");
    server(10, 1, "b");
    auto count = firsts(10'000);
    EXPECT_GT(count["FIRSTUP_PARENT c/a:3128"], 10);
    EXPECT_LT(count["FIRSTUP_PARENT c/a:3128"], 300);
    views.clear();
    server(10, 0, "a");
    server(10, 0, "b");
    EXPECT_NEAR(firsts(10'000)["FIRSTUP_PARENT c/a:3128"], 5'000, 300);
}

TEST_F(Servers, are_not_queried_while_they_stand_by) {
    auto asked = service("c");
    asked.no_query = false;
    server(10, 1, "10.0.0.1", asked);
    server(20, 1, "10.0.0.2", asked);
    mark_standby(views);
    EXPECT_EQ(names(plan(question(), views).ask), "c/10.0.0.1:3128");
    views[0].health = Health::dead;
    mark_standby(views);
    EXPECT_EQ(names(plan(question(), views).ask), "c/10.0.0.1:3128 c/10.0.0.2:3128") << "a dead one is still asked";
}

TEST_F(Servers, of_a_group_share_the_URLs_and_those_that_stand_by_come_last) {
    auto grouped = service("c");
    grouped.group = "g";
    server(10, 1, "a", grouped);
    server(10, 1, "b", grouped);
    server(20, 1, "z", grouped);
    auto const order = chosen(1);
    EXPECT_EQ(order, chosen(2)) << "by the URL, not at random";
    EXPECT_TRUE(order.ends_with("CARP c/z:3128, HIER_DIRECT")) << order;
}

TEST_F(Servers, leave_other_peers_in_their_places) {
    auto plain = parent("p");
    plain.no_query = true;
    server(20, 1, "b");
    add(plain);
    server(10, 1, "a");
    EXPECT_EQ(chosen(), "FIRSTUP_PARENT c/a:3128, FIRSTUP_PARENT p, FIRSTUP_PARENT c/b:3128, HIER_DIRECT");
}

TEST(Service, is_asked_for_again_after_one_second_to_one_minute) {
    EXPECT_EQ(service_lifetime(seconds{0}), seconds{1});
    EXPECT_EQ(service_lifetime(seconds{30}), seconds{30});
    EXPECT_EQ(service_lifetime(seconds{86'400}), seconds{60});
}

}   // namespace
}   // namespace garner::icp
