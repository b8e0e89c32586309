// The order in which sources are tried.
#include <gtest/gtest.h>

#include <map>

#include "icp/neighbours.hpp"

namespace garner::icp {
namespace {

using std::chrono::operator""ms;
using Direct = Question::Direct;

struct Choices : testing::Test, Neighbours {
    std::string chosen(std::vector<Told> const& told = {}) const { return text_of(choose(asked_for, views, told)); }
    std::string first(std::vector<Told> const& told = {}) const {
        auto const all = choose(asked_for, views, told);
        return text_of(std::span(all).first(1));
    }
    Question asked_for = question();
};

PeerOptions bound_to(PeerOptions options, std::string_view text) {
    options.domains.push_back(domain(text));
    return options;
}
PeerOptions silent(PeerOptions options) {
    options.no_query = true;
    return options;
}
PeerOptions weighing(PeerOptions options, std::uint32_t weight) {
    options.weight = weight;
    return options;
}
PeerOptions in_group(PeerOptions options, std::string_view group) {
    options.group = group;
    return silent(std::move(options));
}
PeerOptions by_default(PeerOptions options) {
    options.is_default = true;
    return options;
}
PeerOptions in_turn(PeerOptions options) {
    options.round_robin = true;
    return options;
}

// ---- the lists ----

TEST_F(Choices, without_peers_the_origin) { EXPECT_EQ(chosen(), "HIER_DIRECT"); }

TEST_F(Choices, on_the_direct_list_the_origin_alone) {
    add(by_default(parent("p")));
    asked_for.direct = Direct::always;
    EXPECT_EQ(chosen(), "HIER_DIRECT");
}

TEST_F(Choices, walled_in_without_a_parent_nothing) {
    add(sibling("s"));
    asked_for.direct = Direct::never;
    EXPECT_EQ(chosen(), "NO_DIRECT_FAIL");
    EXPECT_EQ(chosen({says("s", ReplyKind::miss, 1ms)}), "NO_DIRECT_FAIL");
    EXPECT_EQ(chosen({says("s", ReplyKind::hit, 1ms)}), "SIBLING_HIT s");
}

TEST_F(Choices, not_hierarchical_goes_by_its_domain_else_direct) {
    add(by_default(parent("p")));
    add(bound_to(parent("edu"), ".edu"));
    asked_for.hierarchical = false;
    EXPECT_EQ(chosen(), "SINGLE_PARENT edu, HIER_DIRECT, DEFAULT_PARENT p");
    asked_for.direct = Direct::never;
    EXPECT_EQ(chosen(), "SINGLE_PARENT edu, DEFAULT_PARENT p");
}

TEST_F(Choices, not_hierarchical_and_walled_in_any_parent) {
    add(parent("a"));
    add(parent("b")).health = Health::dead;
    asked_for.hierarchical = false;
    asked_for.direct = Direct::never;
    EXPECT_EQ(chosen(), "FIRSTUP_PARENT a, ANY_OLD_PARENT b");
}

// ---- bound parents ----

TEST_F(Choices, a_bound_parent_first) {
    add(by_default(parent("p")));
    add(bound_to(parent("edu"), ".edu"));
    add(bound_to(by_default(parent("org")), ".org"));
    EXPECT_EQ(chosen(), "SINGLE_PARENT edu, DEFAULT_PARENT p, HIER_DIRECT");
    (*this)["edu"].health = Health::dead;
    EXPECT_EQ(chosen(), "DEFAULT_PARENT p, HIER_DIRECT");
    asked_for.direct = Direct::never;
    EXPECT_EQ(chosen(), "DEFAULT_PARENT p, ANY_OLD_PARENT edu") << "a parent for other domains is only the last resort";
}

TEST_F(Choices, of_bound_parents_the_suspect_last_and_groups_by_their_scores) {
    add(bound_to(parent("a"), ".edu")).health = Health::suspect;
    add(bound_to(parent("b"), ".edu"));
    EXPECT_EQ(chosen(), "SINGLE_PARENT b, SINGLE_PARENT a, HIER_DIRECT");
    add(bound_to(in_group(parent("c"), "g"), ".edu"));
    EXPECT_EQ(chosen(), "CARP c, SINGLE_PARENT b, SINGLE_PARENT a, HIER_DIRECT");
}

// ---- HITs ----

TEST_F(Choices, the_first_hit_wins) {
    add(parent("p"));
    add(sibling("s"));
    EXPECT_EQ(chosen({says("s", ReplyKind::hit, 2ms), says("p", ReplyKind::hit, 3ms)}), "SIBLING_HIT s, PARENT_HIT p, HIER_DIRECT");
    EXPECT_EQ(chosen({says("p", ReplyKind::miss, 1ms), says("s", ReplyKind::hit, 2ms)}),
              "SIBLING_HIT s, FIRST_PARENT_MISS p, HIER_DIRECT");
}

TEST_F(Choices, a_heavier_hit_wins_though_it_takes_almost_as_often_longer) {
    add(weighing(parent("p"), 2));
    add(sibling("s"));
    EXPECT_EQ(first({says("s", ReplyKind::hit, 10ms), says("p", ReplyKind::hit, 19ms)}), "PARENT_HIT p");
    EXPECT_EQ(first({says("s", ReplyKind::hit, 10ms), says("p", ReplyKind::hit, 20ms)}), "SIBLING_HIT s") << "the first hit wins";
    EXPECT_EQ(first({says("s", ReplyKind::hit, 10ms), says("p", ReplyKind::hit, 21ms)}), "SIBLING_HIT s");
}

TEST_F(Choices, behind_a_digests_hit_stand_the_parents_that_nobody_asked_then) {
    add(sibling("s"));
    add(parent("p"));
    add(weighing(parent("q"), 9));
    EXPECT_EQ(chosen({says("s", ReplyKind::hit, 0ms, Protocol::digest)}),
              "CD_SIBLING_HIT s, FIRSTUP_PARENT q, FIRSTUP_PARENT p, HIER_DIRECT");
    EXPECT_EQ(chosen({says("s", ReplyKind::hit, 1ms)}), "SIBLING_HIT s, HIER_DIRECT");
}

TEST_F(Choices, digests_are_named_and_have_the_time_of_their_peer) {
    add(parent("p")).query_rtt = 8ms;
    add(sibling("s")).connect_rtt = 5ms;
    using enum Protocol;
    EXPECT_EQ(chosen({says("p", ReplyKind::hit, 0ms, digest), says("s", ReplyKind::hit, 0ms, digest)}),
              "CD_SIBLING_HIT s, CD_PARENT_HIT p, HIER_DIRECT");
    EXPECT_EQ(first({says("p", ReplyKind::hit, 0ms, digest), says("s", ReplyKind::hit, 9ms)}), "CD_PARENT_HIT p");
}

TEST_F(Choices, who_answers_denied_or_cannot_fetch_is_not_used) {
    add(by_default(parent("p")));
    add(parent("q"));
    EXPECT_EQ(chosen({says("p", ReplyKind::denied, 1ms), says("q", ReplyKind::miss_nofetch, 2ms)}), "HIER_DIRECT");
    asked_for.direct = Direct::never;
    EXPECT_EQ(chosen({says("p", ReplyKind::denied, 1ms), says("q", ReplyKind::miss_nofetch, 2ms)}), "NO_DIRECT_FAIL");
}

TEST_F(Choices, the_hits_of_the_dead_and_the_full_do_not_count) {
    add(sibling("dead")).health = Health::dead;
    add(parent("full")).full = true;
    add(sibling("s")).health = Health::suspect;
    std::vector<Told> const told{says("dead", ReplyKind::hit, 1ms), says("full", ReplyKind::hit, 2ms),
                                 says("s", ReplyKind::hit, 3ms)};
    EXPECT_EQ(chosen(told), "SIBLING_HIT s, HIER_DIRECT");
    asked_for.direct = Direct::never;
    EXPECT_EQ(chosen(told), "SIBLING_HIT s, ANY_OLD_PARENT full");
}

// ---- the origin competes ----

TEST_F(Choices, the_origin_wins_where_it_is_nearer_than_who_has_it) {
    add(sibling("s"));
    add(sibling("t"));
    asked_for.origin_rtt = 5ms;
    EXPECT_EQ(chosen({says("s", ReplyKind::hit, 4ms), says("t", ReplyKind::hit, 6ms)}),
              "SIBLING_HIT s, SOURCE_FASTEST, SIBLING_HIT t");
    EXPECT_EQ(chosen({says("s", ReplyKind::hit, 6ms)}), "SOURCE_FASTEST, SIBLING_HIT s");
    asked_for.direct = Direct::never;
    EXPECT_EQ(chosen({says("s", ReplyKind::hit, 6ms)}), "SIBLING_HIT s");
}

TEST_F(Choices, for_large_bodies_throughput_counts_where_it_is_known_of_all) {
    add(sibling("near")).throughput = 1e6;
    add(sibling("fast")).throughput = 1e7;
    std::vector<Told> const told{says("near", ReplyKind::hit, 2ms), says("fast", ReplyKind::hit, 20ms)};
    EXPECT_EQ(first(told), "SIBLING_HIT near");
    asked_for.size = 1'000'000;
    EXPECT_EQ(first(told), "SIBLING_HIT fast");
    asked_for.size = 1'000;
    EXPECT_EQ(first(told), "SIBLING_HIT near");
    asked_for.size.reset();
    auto sized = told;
    sized[0].size = 1'000'000;
    EXPECT_EQ(first(sized), "SIBLING_HIT fast") << "a reply has the size";
    (*this)["fast"].throughput.reset();
    EXPECT_EQ(first(sized), "SIBLING_HIT near");
    (*this)["fast"].throughput = 1e7;
    asked_for.origin_rtt = 25ms;
    EXPECT_EQ(first(sized), "SIBLING_HIT near") << "the throughput of the origin is unknown";
    asked_for.origin_throughput = 1e8;
    EXPECT_EQ(first(sized), "SOURCE_FASTEST");
}

// ---- misses ----

TEST_F(Choices, the_first_parent_that_missed_by_weight) {
    add(parent("a"));
    add(weighing(parent("b"), 3));
    add(sibling("s"));
    EXPECT_EQ(chosen({says("s", ReplyKind::miss, 1ms), says("a", ReplyKind::miss, 5ms), says("b", ReplyKind::miss, 14ms)}),
              "FIRST_PARENT_MISS b, FIRST_PARENT_MISS a, HIER_DIRECT");
    EXPECT_EQ(chosen({says("a", ReplyKind::miss, 5ms), says("b", ReplyKind::miss, 16ms)}),
              "FIRST_PARENT_MISS a, FIRST_PARENT_MISS b, HIER_DIRECT");
}

TEST_F(Choices, the_parent_closest_to_the_origin_where_they_tell) {
    add(parent("a"));
    add(parent("b"));
    add(parent("c"));
    auto from_a = says("a", ReplyKind::miss, 5ms), from_b = says("b", ReplyKind::miss, 7ms);
    from_a.source_rtt = 40ms;
    from_b.source_rtt = 20ms;
    auto const from_c = says("c", ReplyKind::miss, 1ms);
    EXPECT_EQ(chosen({from_c, from_a, from_b}), "CLOSEST_PARENT_MISS b, CLOSEST_PARENT_MISS a, FIRST_PARENT_MISS c, HIER_DIRECT");
    asked_for.origin_rtt = 26ms;
    EXPECT_EQ(chosen({from_c, from_a, from_b}),
              "CLOSEST_DIRECT, CLOSEST_PARENT_MISS b, CLOSEST_PARENT_MISS a, FIRST_PARENT_MISS c");
    asked_for.origin_rtt = 28ms;
    EXPECT_EQ(first({from_c, from_a, from_b}), "CLOSEST_PARENT_MISS b");
    asked_for.origin_rtt = 1ms;
    asked_for.direct = Direct::never;
    EXPECT_EQ(first({from_c, from_a, from_b}), "CLOSEST_PARENT_MISS b");
}

// ---- no measurements yet ----

TEST_F(Choices, groups_then_default_then_turns_then_any_that_is_not_asked_then_the_origin) {
    add(silent(parent("plain")));
    add(in_turn(parent("r1")));
    add(in_turn(parent("r2")));
    add(by_default(parent("d")));
    add(in_group(parent("g1"), "g"));
    add(parent("asked"));
    EXPECT_EQ(chosen(), "CARP g1, DEFAULT_PARENT d, ROUNDROBIN_PARENT r1, ROUNDROBIN_PARENT r2, FIRSTUP_PARENT plain, HIER_DIRECT");
    asked_for.turn = 1;
    EXPECT_EQ(chosen(), "CARP g1, DEFAULT_PARENT d, ROUNDROBIN_PARENT r2, ROUNDROBIN_PARENT r1, FIRSTUP_PARENT plain, HIER_DIRECT");
    asked_for.direct = Direct::never;
    EXPECT_EQ(chosen(),
              "CARP g1, DEFAULT_PARENT d, ROUNDROBIN_PARENT r2, ROUNDROBIN_PARENT r1, FIRSTUP_PARENT plain, FIRSTUP_PARENT asked");
}

TEST_F(Choices, turns_are_even_also_when_one_is_dead) {
    for (auto const* name : {"a", "b", "c"}) add(silent(in_turn(parent(name))));
    std::map<std::string, int> firsts;
    for (asked_for.turn = 0; asked_for.turn < 300; ++asked_for.turn) ++firsts[first()];
    EXPECT_EQ(firsts, (std::map<std::string, int>{
                          {"ROUNDROBIN_PARENT a", 100}, {"ROUNDROBIN_PARENT b", 100}, {"ROUNDROBIN_PARENT c", 100}}));
    (*this)["b"].health = Health::dead;
    firsts.clear();
    for (asked_for.turn = 0; asked_for.turn < 300; ++asked_for.turn) ++firsts[first()];
    EXPECT_EQ(firsts, (std::map<std::string, int>{{"ROUNDROBIN_PARENT a", 150}, {"ROUNDROBIN_PARENT c", 150}}));
}

TEST_F(Choices, a_group_by_its_scores_and_the_next_when_the_first_is_dead) {
    for (auto const* name : {"a", "b", "c"}) add(in_group(parent(name), "g"));
    std::map<std::string, int> firsts;
    for (int i = 0; i < 300; ++i) {
        auto const url = "http://www.example.edu/" + std::to_string(i);
        asked_for.url = url;
        auto const before = choose(asked_for, views, {});
        ASSERT_EQ(before.size(), 4u);
        ++firsts[before[0].peer->options.name];
        (*this)[before[0].peer->options.name].health = Health::dead;
        auto const after = choose(asked_for, views, {});
        EXPECT_EQ(after[0].peer, before[1].peer);
        EXPECT_EQ(after[0].why, Hierarchy::carp);
        (*this)[before[0].peer->options.name].health = Health::alive;
        std::reverse(views.begin(), views.end());
        EXPECT_EQ(choose(asked_for, views, {})[0].peer, before[0].peer) << "the order of the views does not matter";
        asked_for.url = {};
    }
    EXPECT_EQ(firsts.size(), 3u);
}

TEST_F(Choices, of_a_group_that_missed_the_one_whose_url_it_is_though_another_is_nearer) {
    for (auto const* name : {"a", "b", "c"}) {
        auto options = parent(name);
        options.group = "g";
        add(options);
    }
    std::map<std::string, int> firsts;
    for (int i = 0; i < 300; ++i) {
        auto const url = "http://www.example.edu/" + std::to_string(i);
        asked_for.url = url;
        std::vector<Told> const told{{.peer = 1, .reply = ReplyKind::miss, .took = microseconds{100}},
                                     {.peer = 0, .reply = ReplyKind::miss, .took = microseconds{900}}};
        auto const ways = choose(asked_for, views, told);
        bool const a_has_it = rendezvous_score(url, "a", 1) > rendezvous_score(url, "b", 1);
        EXPECT_EQ(ways[0].peer->options.name, a_has_it ? "a" : "b") << "c did not answer";
        EXPECT_EQ(ways[0].why, Hierarchy::carp);
        ++firsts[ways[0].peer->options.name];
        asked_for.url = {};
    }
    EXPECT_EQ(firsts.size(), 2u);
}

TEST_F(Choices, the_suspect_come_after_the_origin_and_the_dead_only_where_it_is_forbidden) {
    add(by_default(parent("suspect"))).health = Health::suspect;
    add(by_default(parent("dead"))).health = Health::dead;
    add(by_default(parent("full"))).full = true;
    EXPECT_EQ(chosen(), "HIER_DIRECT, DEFAULT_PARENT suspect");
    asked_for.direct = Direct::never;
    EXPECT_EQ(chosen(), "DEFAULT_PARENT suspect, ANY_OLD_PARENT dead, ANY_OLD_PARENT full");
}

TEST_F(Choices, are_bounded_and_have_room_for_the_origin) {
    for (int i = 0; i < 100; ++i) add(by_default(parent("p" + std::to_string(i))));
    auto const all = choose(asked_for, views, {});
    EXPECT_EQ(all.size(), 8u);
    EXPECT_EQ(all.back().why, Hierarchy::direct);
    asked_for.direct = Direct::never;
    EXPECT_EQ(choose(asked_for, views, {}).size(), 8u);
}

// ---- Harvest's orderings, on a network with given times ----

TEST_F(Choices, harvest_takes_the_first_parent_miss_when_all_have_missed) {
    add(parent("p"));
    add(parent("q"));
    add(sibling("s"));
    auto const outcome = resolve(
        asked_for, views, {says("q", ReplyKind::miss, 30ms), says("s", ReplyKind::miss, 50ms), says("p", ReplyKind::miss, 40ms)});
    EXPECT_EQ(text_of(outcome.sources), "FIRST_PARENT_MISS q, FIRST_PARENT_MISS p, HIER_DIRECT");
    EXPECT_EQ(outcome.took, 50ms) << "until the last reply";
}

TEST_F(Choices, harvest_takes_the_parent_that_missed_after_two_seconds_when_one_is_silent) {
    add(parent("p"));
    add(parent("gone"));
    auto const outcome = resolve(asked_for, views, {says("p", ReplyKind::miss, 30ms)});
    EXPECT_EQ(text_of(std::span(outcome.sources).first(1)), "FIRST_PARENT_MISS p");
    EXPECT_EQ(outcome.took, 2'000ms);
    (*this)["gone"].health = Health::suspect;
    EXPECT_EQ(resolve(asked_for, views, {says("p", ReplyKind::miss, 30ms)}).took, 30ms) << "a suspect parent is not awaited";
}

TEST_F(Choices, harvest_goes_home_when_nobody_answers_in_time) {
    add(parent("p"));
    auto const outcome = resolve(asked_for, views, {says("p", ReplyKind::hit, 2'001ms)});
    EXPECT_EQ(text_of(outcome.sources), "HIER_DIRECT");
    EXPECT_EQ(outcome.took, 2'000ms);
}

TEST_F(Choices, harvest_never_waits_for_the_dead) {
    add(parent("p"));
    add(sibling("dead")).health = Health::dead;
    auto const outcome = resolve(asked_for, views, {says("p", ReplyKind::miss, 3ms)});
    EXPECT_EQ(outcome.took, 3ms);
    (*this)["p"].health = Health::dead;
    EXPECT_EQ(resolve(asked_for, views, {}).took, 0ms);
}

}   // namespace
}   // namespace garner::icp
