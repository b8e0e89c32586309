// Selection of the peers to query, and the timeout for their replies.
#include <gtest/gtest.h>

#include "icp/neighbours.hpp"

namespace garner::icp {
namespace {

using std::chrono::operator""ms;
using std::chrono::operator""us;

struct Plans : testing::Test, Neighbours {
    std::string asked(Question const& question) const { return names(plan(question, views).ask); }
    std::string awaited(Question const& question) const { return names(plan(question, views).wait_for); }
};

// ---- domains ----

Binding binding(std::vector<std::string_view> domains, std::string_view host, PeerOptions::Type type = PeerOptions::Type::parent) {
    auto options = a_peer("p", type);
    for (auto const text : domains) options.domains.push_back(domain(text));
    return binding_of(options, host);
}

TEST(Domains, say_for_which_hosts_a_peer_is) {
    EXPECT_EQ(binding({}, "www.example.edu"), Binding::eligible);
    EXPECT_EQ(binding({".edu"}, "www.example.edu"), Binding::bound);
    EXPECT_EQ(binding({".edu"}, "www.example.org"), Binding::none);
    EXPECT_EQ(binding({"!.edu"}, "www.example.edu"), Binding::none);
    EXPECT_EQ(binding({"!.edu"}, "www.example.org"), Binding::eligible) << "a list of only exclusions admits all other hosts";
    EXPECT_EQ(binding({"!.mil.edu", ".edu"}, "a.mil.edu"), Binding::none) << "the first matching domain decides";
    EXPECT_EQ(binding({"!.mil.edu", ".edu"}, "a.edu"), Binding::bound);
    EXPECT_EQ(binding({"!.mil.edu", ".edu"}, "a.org"), Binding::none);
    EXPECT_EQ(binding({".edu", "!.mil.edu"}, "a.mil.edu"), Binding::bound);
    EXPECT_EQ(binding({".edu"}, "a.edu", PeerOptions::Type::sibling), Binding::eligible)
        << "a sibling is never bound: it forwards no misses";
    EXPECT_EQ(binding({".edu"}, "a.org", PeerOptions::Type::sibling), Binding::none);
}

// ---- asking ----

TEST_F(Plans, all_eligible_siblings_and_parents_are_asked_at_once) {
    add(parent("p"));
    add(sibling("s"));
    EXPECT_EQ(asked(question()), "p s");
    EXPECT_EQ(awaited(question()), "p s");
}

TEST_F(Plans, nobody_is_asked_without_peers) { EXPECT_EQ(asked(question()), ""); }

TEST_F(Plans, nobody_is_asked_for_what_goes_direct_or_is_not_hierarchical) {
    add(parent("p"));
    auto listed = question();
    listed.direct = Question::Direct::always;
    EXPECT_EQ(asked(listed), "");
    auto post = question();
    post.hierarchical = false;
    EXPECT_EQ(asked(post), "");
    auto walled = question();
    walled.direct = Question::Direct::never;
    EXPECT_EQ(asked(walled), "p");
}

TEST_F(Plans, peers_are_asked_for_their_domains_when_there_is_room_and_a_way) {
    auto elsewhere = parent("elsewhere");
    elsewhere.domains.push_back(domain(".org"));
    add(elsewhere);
    auto silent = parent("silent");
    silent.no_query = true;
    add(silent);
    add(parent("full")).full = true;
    add(parent("nowhere")).askable = false;
    add(sibling("s"));
    EXPECT_EQ(asked(question()), "s");
}

TEST_F(Plans, suspect_and_dead_peers_are_asked_and_not_waited_for) {
    add(parent("alive"));
    add(parent("suspect")).health = Health::suspect;
    add(parent("dead")).health = Health::dead;
    EXPECT_EQ(asked(question()), "alive suspect dead");
    EXPECT_EQ(awaited(question()), "alive");
}

TEST_F(Plans, a_bound_parent_that_can_be_used_spares_the_question) {
    auto edu = parent("edu");
    edu.domains.push_back(domain(".edu"));
    add(edu);
    add(parent("p"));
    EXPECT_EQ(asked(question()), "");
    (*this)["edu"].health = Health::suspect;
    EXPECT_EQ(asked(question()), "");
    (*this)["edu"].health = Health::dead;
    EXPECT_EQ(asked(question()), "edu p") << "a dead parent is queried with the others";
    EXPECT_EQ(awaited(question()), "p");
    (*this)["edu"].health = Health::alive;
    (*this)["edu"].full = true;
    EXPECT_EQ(asked(question()), "p");
}

TEST_F(Plans, a_domain_of_a_sibling_spares_nothing) {
    auto edu = sibling("edu");
    edu.domains.push_back(domain(".edu"));
    add(edu);
    add(parent("p"));
    EXPECT_EQ(asked(question()), "edu p");
}

TEST_F(Plans, nobody_is_asked_when_the_origin_is_nearer_than_all) {
    add(parent("p")).query_rtt = 4ms;
    add(sibling("s")).query_rtt = 2ms;
    auto near = question();
    near.origin_rtt = 1ms;
    EXPECT_EQ(asked(near), "");
    EXPECT_EQ(text_of(choose(near, views, {})), "CLOSEST_DIRECT");
    near.origin_rtt = 3ms;
    EXPECT_EQ(asked(near), "p s");
    near.origin_rtt = 1ms;
    (*this)["s"].query_rtt.reset();
    EXPECT_EQ(asked(near), "p s") << "a peer with unknown RTT may be nearer";
    (*this)["s"].health = Health::dead;
    EXPECT_EQ(asked(near), "") << "the reply of a dead peer would not be awaited";
    (*this)["p"].health = Health::suspect;
    EXPECT_EQ(asked(near), "p s") << "without a live peer, suspect and dead peers are queried";
}

TEST_F(Plans, weight_and_walls_count_against_a_near_origin) {
    auto heavy = parent("p");
    heavy.weight = 5;
    add(heavy).query_rtt = 4ms;
    auto near = question();
    near.origin_rtt = 1ms;
    EXPECT_EQ(asked(near), "p");
    (*this)["p"].query_rtt = 6ms;
    EXPECT_EQ(asked(near), "");
    near.direct = Question::Direct::never;
    EXPECT_EQ(asked(near), "p");
}

// ---- patience ----

TEST_F(Plans, they_are_waited_for_twice_their_mean_round_trip) {
    add(parent("a")).query_rtt = 10ms;
    add(parent("b")).query_rtt = 30ms;
    add(parent("new"));
    auto const whom = plan(question(), views);
    EXPECT_EQ(patience(whom, views, 5ms, 2'000ms), 40ms);
    EXPECT_EQ(patience(whom, views, 5ms, 25ms), 25ms) << "at most the timeout";
    for (auto& view : views) view.query_rtt = 100us;
    EXPECT_EQ(patience(whom, views, 5ms, 2'000ms), 5ms) << "at least 5 ms";
    EXPECT_EQ(patience(whom, views, 5ms, 2ms), 2ms) << "a configured timeout below 5 ms applies";
    for (auto& view : views) view.query_rtt.reset();
    EXPECT_EQ(patience(whom, views, 5ms, 2'000ms), 2'000ms) << "no RTT is known";
}

TEST_F(Plans, only_those_who_are_waited_for_count_for_the_patience) {
    add(parent("a")).query_rtt = 10ms;
    add(parent("far")).query_rtt = 1'000ms;
    (*this)["far"].health = Health::suspect;
    EXPECT_EQ(patience(plan(question(), views), views, 5ms, 2'000ms), 20ms);
    (*this)["a"].health = Health::dead;
    EXPECT_EQ(patience(plan(question(), views), views, 5ms, 2'000ms), 0ms) << "no reply is awaited";
}

// ---- waiting ----

struct Waits : Plans {
    microseconds worth(std::vector<Told> const& told, microseconds patience = 40ms) const {
        return worth_waiting(asked_for, plan(asked_for, views), views, told, patience);
    }
    Question asked_for = question();
};

TEST_F(Waits, end_when_all_who_are_waited_for_have_spoken) {
    add(parent("p"));
    add(sibling("s"));
    add(parent("dead")).health = Health::dead;
    EXPECT_EQ(worth({}), 40ms);
    EXPECT_EQ(worth({says("p", ReplyKind::miss, 1ms)}), 40ms);
    EXPECT_EQ(worth({says("p", ReplyKind::miss, 1ms), says("s", ReplyKind::miss, 2ms)}), 0ms);
    EXPECT_EQ(worth({says("p", ReplyKind::denied, 1ms), says("s", ReplyKind::error, 2ms)}), 0ms);
    EXPECT_EQ(worth({says("p", ReplyKind::miss, 1ms), says("dead", ReplyKind::miss, 2ms)}), 40ms);
}

TEST_F(Waits, end_with_the_first_hit) {
    add(parent("p"));
    add(sibling("s")).query_rtt = 1ms;
    add(parent("suspect")).health = Health::suspect;
    EXPECT_EQ(worth({says("s", ReplyKind::hit, 2ms)}), 0ms);
    EXPECT_EQ(worth({says("suspect", ReplyKind::hit, 2ms)}), 0ms) << "the hit of a suspect peer ends the wait, too";
}

TEST_F(Waits, go_on_past_the_hit_of_one_that_cannot_be_used) {
    add(parent("p"));
    add(parent("dead")).health = Health::dead;
    EXPECT_EQ(worth({says("dead", ReplyKind::hit, 1ms)}), 40ms);
}

TEST_F(Waits, go_on_for_a_heavier_one_as_long_as_it_could_win) {
    add(sibling("s"));
    auto heavy = parent("heavy");
    heavy.weight = 2;
    add(heavy).query_rtt = 5ms;
    EXPECT_EQ(worth({says("s", ReplyKind::hit, 3ms)}), 6ms);
    EXPECT_EQ(worth({says("s", ReplyKind::hit, 30ms)}), 40ms) << "the patience limits the wait";
    EXPECT_EQ(worth({says("s", ReplyKind::hit, 2ms)}), 0ms) << "the usual RTT of heavy is 5 ms: its reply would be too late";
    EXPECT_EQ(worth({says("s", ReplyKind::hit, 3ms), says("heavy", ReplyKind::miss, 4ms)}), 0ms);
    (*this)["heavy"].query_rtt.reset();
    EXPECT_EQ(worth({says("s", ReplyKind::hit, 3ms)}), 0ms) << "a peer with unknown RTT is not awaited";
    (*this)["heavy"].query_rtt = 5ms;
    (*this)["heavy"].health = Health::suspect;
    EXPECT_EQ(worth({says("s", ReplyKind::hit, 3ms)}), 0ms);
}

TEST_F(Waits, are_never_for_the_origin) {
    add(parent("p"));
    asked_for.origin_rtt = 1ms;
    EXPECT_EQ(worth({says("p", ReplyKind::miss, 1ms)}), 0ms);
}

}   // namespace
}   // namespace garner::icp
