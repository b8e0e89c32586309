// The distribution tree over the members of a group, and the time that an object takes through it.
#include "group/distribution_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "group/random.hpp"

namespace garner::group {
namespace {

using Tree = std::vector<std::optional<std::size_t>>;
constexpr std::uint64_t MB = 1'000'000, GB = 1'000 * MB;

std::size_t children_of(Tree const& tree, std::size_t member) {
    return static_cast<std::size_t>(std::ranges::count(tree, std::optional(member)));
}

std::size_t depth_of(Tree const& tree, std::size_t member) { return above(tree, member, tree.size()).size(); }

/// Rates of max-min fairness: each demand gets an equal part of the line, or less if it needs less.
std::vector<double> shared(double line, std::vector<double> const& demands) {
    std::vector<double> rates(demands.size(), 0);
    std::vector<std::size_t> order(demands.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t at) { return demands[at]; });
    auto left = order.size();
    for (auto const at : order) {
        rates[at] = std::min(demands[at], line / static_cast<double>(left--));
        line -= rates[at];
    }
    return rates;
}

/// Seconds until each member has the object. Fluid model: bytes flow on as they arrive, and the children of a member share its uplink
/// as TCP connections do.
std::vector<double> times(std::vector<PlanMember> const& members, Tree const& tree, std::uint64_t length) {
    constexpr double step = 0.25;
    auto const whole = static_cast<double>(length);
    std::vector<double> has(members.size(), 0), at(members.size(), -1);
    for (std::size_t i = 0; i < members.size(); ++i)
        if (!tree[i]) has[i] = whole, at[i] = 0;
    for (double now = 0; now < 5'000 && std::ranges::count(at, -1.0) > 0; now += step) {
        auto next = has;
        for (std::size_t parent = 0; parent < members.size(); ++parent) {
            std::vector<std::size_t> children;
            std::vector<double> demands;
            for (std::size_t i = 0; i < members.size(); ++i)
                if (tree[i] == parent && has[i] < has[parent]) {
                    children.push_back(i);
                    demands.push_back(std::min(static_cast<double>(members[i].downlink) * step, has[parent] - has[i]));
                }
            auto const rates = shared(static_cast<double>(members[parent].uplink) * step, demands);
            for (std::size_t i = 0; i < children.size(); ++i) next[children[i]] += rates[i];
        }
        has = next;
        for (std::size_t i = 0; i < members.size(); ++i)
            if (at[i] < 0 && has[i] >= whole - 1) at[i] = now + step;
    }
    return at;
}

/// A hundred members: data centres, offices, and homes with slow uplinks. The first one has the object.
std::vector<PlanMember> mixed_lines(std::uint64_t seed) {
    struct Kind {
        std::uint64_t uplink, downlink;
        int of_hundred;
    };
    constexpr Kind kinds[]{{125 * MB, 125 * MB, 10}, {25 * MB, 25 * MB, 30}, {5 * MB, 25 * MB, 30}, {1 * MB, 6'250'000, 30}};
    std::vector<PlanMember> members;
    for (auto const& kind : kinds)
        for (int i = 0; i < kind.of_hundred; ++i) members.push_back({.uplink = kind.uplink, .downlink = kind.downlink});
    simulated::Random random(seed);
    for (std::size_t i = members.size() - 1; i > 1; --i)
        std::swap(members[i], members[1 + random.below(static_cast<std::int64_t>(i))]);
    for (std::size_t i = 0; i < members.size(); ++i) members[i].member = i + 1;
    return members;
}

TEST(GroupPlan, the_last_of_a_hundred_has_a_gigabyte_in_little_more_than_the_time_of_its_own_line) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        auto const members = mixed_lines(seed);
        auto const tree = plan(members, 1, GB);
        auto const at = times(members, tree, GB);
        double slowest_line = 0;
        for (auto const& one : members)
            slowest_line = std::max(slowest_line, static_cast<double>(GB) / static_cast<double>(one.downlink));
        EXPECT_EQ(std::ranges::count(at, -1.0), 0);
        EXPECT_LE(*std::ranges::max_element(at), 1.25 * slowest_line);
        EXPECT_EQ(std::ranges::count(tree, std::optional<std::size_t>()), 1) << "the root alone asks the origin";
    }
}

TEST(GroupPlan, a_member_with_a_very_slow_line_takes_nothing_from_the_others) {
    auto members = mixed_lines(1);
    double slowest_line = 0;
    for (auto const& one : members)
        slowest_line = std::max(slowest_line, static_cast<double>(GB) / static_cast<double>(one.downlink));
    members.push_back({.member = 101, .uplink = MB / 2, .downlink = MB / 2});
    auto const at = times(members, plan(members, 1, GB), GB);
    for (std::size_t i = 0; i + 1 < members.size(); ++i) {
        EXPECT_GE(at[i], 0) << i;
        EXPECT_LE(at[i], 1.25 * slowest_line) << i;
    }
}

TEST(GroupPlan, absurd_lines_exceed_no_limit) {
    for (auto const absurd : {std::uint64_t{1}, UINT64_MAX}) {
        auto members = mixed_lines(2);
        for (std::size_t i : {1, 50}) members[i].uplink = members[i].downlink = absurd;
        auto const tree = plan(members, 1, GB);
        EXPECT_EQ(std::ranges::count(tree, std::optional<std::size_t>()), 1);
        for (std::size_t i = 0; i < members.size(); ++i) {
            EXPECT_LE(children_of(tree, i), plan_children_max);
            EXPECT_LT(depth_of(tree, i), members.size());
        }
        for (std::size_t i : {1, 50}) EXPECT_EQ(children_of(tree, i) > 0, absurd != 1) << i;
    }
}

TEST(GroupPlan, a_blind_tree_takes_longer) {
    auto const members = mixed_lines(1);
    Tree blind(members.size());
    constexpr std::size_t degree = 4;
    for (std::size_t i = 1; i < members.size(); ++i) blind[i] = (i - 1) / degree;
    auto const planned = times(members, plan(members, 1, GB), GB), simple = times(members, blind, GB);
    EXPECT_LT(2 * *std::ranges::max_element(planned), *std::ranges::max_element(simple));
}

TEST(GroupPlan, into_each_domain_the_object_goes_once) {
    simulated::Random random(5);
    for (int round = 0; round < 50; ++round) {
        std::vector<PlanMember> members;
        auto const count = random.between(1, 60);
        for (std::int64_t i = 0; i < count; ++i)
            members.push_back({.member = static_cast<std::uint64_t>(i + 1),
                               .domain = "d" + std::to_string(random.below(6)),
                               .uplink = static_cast<std::uint64_t>(random.between(1, 100)) * MB,
                               .downlink = static_cast<std::uint64_t>(random.between(1, 100)) * MB});
        auto const root = static_cast<std::uint64_t>(random.between(1, count));
        auto const tree = plan(members, root, random.one_in(3) ? 1'000 : GB);
        std::map<std::string, int> entries;
        for (std::size_t i = 0; i < members.size(); ++i) {
            EXPECT_EQ(tree[i] == std::nullopt, members[i].member == root);
            EXPECT_LE(children_of(tree, i), plan_children_max);
            EXPECT_LE(depth_of(tree, i), members.size()) << "no circle";
            if (tree[i] && members[*tree[i]].domain != members[i].domain) ++entries[members[i].domain];
        }
        for (auto const& [domain, number] : entries) EXPECT_EQ(number, 1) << domain;
    }
}

TEST(GroupPlan, the_fastest_uplink_of_a_domain_is_its_entry) {
    std::vector<PlanMember> const members{{.member = 1, .domain = "a", .uplink = 50 * MB, .downlink = 50 * MB},
                                          {.member = 2, .domain = "b", .uplink = 10 * MB, .downlink = 50 * MB},
                                          {.member = 3, .domain = "b", .uplink = 90 * MB, .downlink = 50 * MB}};
    auto const tree = plan(members, 1, GB);
    EXPECT_EQ(tree[2], 0u);
    EXPECT_EQ(tree[1], 2u);
}

TEST(GroupPlan, equal_members_in_any_order_get_the_same_tree) {
    auto members = mixed_lines(4);
    auto const parents = [&] {
        auto const tree = plan(members, 7, GB);
        std::map<std::uint64_t, std::uint64_t> by_number;
        for (std::size_t i = 0; i < members.size(); ++i) by_number[members[i].member] = tree[i] ? members[*tree[i]].member : 0;
        return by_number;
    };
    auto const before = parents();
    std::ranges::reverse(members);
    EXPECT_EQ(parents(), before);
    std::ranges::rotate(members, members.begin() + 33);
    EXPECT_EQ(parents(), before);
}

TEST(GroupPlan, a_small_object_takes_few_hops) {
    std::vector<PlanMember> members;
    for (std::uint64_t i = 1; i <= 100; ++i) members.push_back({.member = i, .uplink = 10 * MB, .downlink = 10 * MB});
    auto const tree = plan(members, 1, 10'000);
    for (std::size_t i = 0; i < members.size(); ++i) EXPECT_LE(depth_of(tree, i), 2u);
}

TEST(GroupPlan, members_with_unknown_lines_send_to_four_others) {
    std::vector<PlanMember> members;
    for (std::uint64_t i = 1; i <= 50; ++i) members.push_back({.member = i});
    auto const tree = plan(members, 1, GB);
    for (std::size_t i = 0; i < members.size(); ++i) {
        EXPECT_LE(children_of(tree, i), 4u);
        EXPECT_LE(depth_of(tree, i), 3u);
    }
}

TEST(GroupPlan, a_member_that_cannot_be_reached_has_no_children) {
    std::vector<PlanMember> members{{.member = 1, .uplink = 90 * MB}, {.member = 2, .uplink = 80 * MB, .can_serve = false}};
    for (std::uint64_t i = 3; i <= 40; ++i) members.push_back({.member = i, .uplink = 10 * MB});
    EXPECT_EQ(children_of(plan(members, 1, GB), 1), 0u);
    // The root itself: the fastest of the others asks the origin, and the rest asks that one.
    auto const tree = plan(members, 2, GB);
    EXPECT_EQ(children_of(tree, 1), 0u);
    EXPECT_EQ(tree[0], std::nullopt);
    EXPECT_EQ(std::ranges::count(tree, std::optional<std::size_t>()), 2);
}

TEST(GroupPlan, without_the_root_the_fastest_member_takes_its_place) {
    std::vector<PlanMember> const members{{.member = 1, .uplink = 10 * MB}, {.member = 2, .uplink = 90 * MB}};
    auto const tree = plan(members, 99, GB);
    EXPECT_EQ(tree[1], std::nullopt);
    EXPECT_EQ(tree[0], 1u);
    EXPECT_TRUE(plan({}, 1, GB).empty());
}

TEST(GroupPlan, the_way_up_ends_at_the_root) {
    Tree const chain{std::nullopt, 0, 1, 2, 3, 4};
    EXPECT_EQ(above(chain, 5, 9), (std::vector<std::size_t>{4, 3, 2, 1, 0}));
    EXPECT_EQ(above(chain, 5, 3), (std::vector<std::size_t>{4, 3, 0}));
    EXPECT_EQ(above(chain, 0, 3), std::vector<std::size_t>{});
}

}   // namespace
}   // namespace garner::group
