// The protocol in simulated groups: the promise holds, and each deliberate error is found.
#include <gtest/gtest.h>

#include <algorithm>

#include "group/scenes.hpp"
#include "group/world.hpp"
#include "support/rounds.hpp"

namespace garner::group::simulated {
namespace {

struct Deliberate {
    explicit Deliberate(Mutant one) { mutant = one; }
    ~Deliberate() { mutant = Mutant::none; }
};

Options options_of(std::uint64_t seed) {
    Options options;
    options.seed = seed;
    return options;
}

Moment percentile(std::vector<Moment> all, std::size_t percent) {
    std::ranges::sort(all);
    return all.empty() ? 0 : all[all.size() * percent / 100];
}

TEST(GroupSimulation, no_answer_is_older_than_the_lease_permits) {
    std::uint64_t hits = 0, accepted = 0, cut_off = 0;
    for (std::uint64_t seed = 1; seed <= test::rounds(8); ++seed) {
        World world(options_of(seed));
        EXPECT_EQ(world.run(), "") << "tools/group_sim --first " << seed << " --seeds 1 --members 64 --seconds 60 --trace";
        hits += world.figures().hits;
        accepted += world.figures().accepted;
        cut_off += world.figures().cut_off;
    }
    EXPECT_GT(hits, 15'000U);
    EXPECT_GT(accepted, 300U);
    EXPECT_GT(cut_off, 100U);
}

TEST(GroupSimulation, offers_beside_invalidations_bring_nothing_older) {
    std::uint64_t objects = 0, taken = 0;
    for (std::uint64_t seed = 1; seed <= test::rounds(4); ++seed) {
        auto options = options_of(seed);
        options.offer_one_in = 5;
        World world(options);
        EXPECT_EQ(world.run(), "") << seed;
        objects += world.figures().offered_once.size();
        taken += world.figures().offers_taken - world.figures().offered;   // by other members
    }
    EXPECT_GT(objects, 300U);
    EXPECT_GT(taken, 20 * objects) << "a voter sends one offer of an object, to all members";
}

TEST(GroupSimulation, it_is_the_same_with_every_compiler) {
    auto options = options_of(7);
    options.members = 12;
    options.length = 20 * second;
    World world(options);
    EXPECT_EQ(world.run(), "");
    EXPECT_EQ(world.figures().hash, 0xae0fb135bf43100b);
}

TEST(GroupSimulation, scenes_hold_and_find_the_errors_that_random_search_finds_rarely) {
    for (auto const& scene : scenes())
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            EXPECT_EQ(play(scene, seed), "") << scene.name;
            Deliberate const error(scene.breaks);
            EXPECT_NE(play(scene, seed), "") << scene.name;
        }
}

TEST(GroupSimulation, each_error_has_a_scene) {
    for (int one = 1; one <= static_cast<int>(Mutant::stale_on_error); ++one) {
        auto const is_of = [&](Scene const& scene) { return scene.breaks == static_cast<Mutant>(one); };
        EXPECT_TRUE(std::ranges::any_of(scenes(), is_of)) << one;
    }
}

TEST(GroupSimulation, random_search_finds_the_common_errors) {
    using enum Mutant;
    for (auto const one : {no_watermark, no_fill_guard, followers_join_older_fills, no_pass_after_match, stale_on_error}) {
        Deliberate const error(one);
        bool found = false;
        for (std::uint64_t seed = 1; seed <= 5 && !found; ++seed) found = !World(options_of(seed)).run().empty();
        EXPECT_TRUE(found) << static_cast<int>(one);
    }
}

TEST(GroupSimulation, a_healthy_group_applies_in_little_more_than_one_way) {
    for (bool const central : {true, false}) {
        Options options;
        options.members = 60;
        options.voters = 3;
        options.length = 10 * second;
        options.fault_every = options.client_every = 0;
        options.publish_every = 300 * ms;
        options.network.loss_ppm = 0;
        options.central_voters = central;
        World world(options);
        EXPECT_EQ(world.run(), "");
        auto const& figures = world.figures();
        EXPECT_GE(figures.accepted + 2, figures.submitted);   // the last ones are on their way
        EXPECT_EQ(figures.watermarks, 60U);                   // each at its start
        auto const applied = percentile(figures.applied, 99), bound = figures.one_way_p99 * (central ? 110 : 125) / 100;
        EXPECT_LE(applied, bound) << central;
        EXPECT_GT(applied, 0);
    }
}

}   // namespace
}   // namespace garner::group::simulated
