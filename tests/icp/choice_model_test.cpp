// Random peers, replies and requests, checked against invariants of every choice.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "icp/neighbours.hpp"

namespace garner::icp {
namespace {

using Direct = Question::Direct;

struct World : Neighbours {
    explicit World(std::uint32_t seed) : random(seed) {
        auto const many = random() % 10;
        for (std::uint32_t i = 0; i < many; ++i) add_any("p" + std::to_string(i));
        asked_for.direct = Direct{static_cast<std::uint8_t>(random() % 3)};
        asked_for.hierarchical = !one_in(8);
        if (one_in(3)) asked_for.origin_rtt = any_time();
        if (one_in(3)) asked_for.origin_throughput = any_rate();
        if (one_in(3)) asked_for.size = random() % 10'000'000;
        asked_for.turn = random();
        for (auto const place : plan(asked_for, views).ask)
            if (!one_in(4)) answers.push_back(any_answer(place));
        std::stable_sort(answers.begin(), answers.end(), [](Told const& a, Told const& b) { return a.took < b.took; });
    }

    bool one_in(std::uint32_t n) { return random() % n == 0; }
    microseconds any_time() { return microseconds{random() % 100'000}; }
    double any_rate() { return 1e3 + random() % 100'000'000; }

    void add_any(std::string name) {
        auto options = one_in(3) ? sibling(std::move(name)) : parent(std::move(name));
        options.weight = 1 + random() % 4;
        options.no_query = one_in(5);
        options.is_default = one_in(4);
        options.round_robin = one_in(4);
        if (one_in(4)) options.group = one_in(2) ? "g" : "h";
        if (one_in(6)) options.domains.push_back(domain(".org"));
        if (one_in(10)) options.domains.push_back(domain("!.edu"));
        if (one_in(12)) options.domains.push_back(domain(".edu"));
        auto& view = add(options);
        view.health = Health{static_cast<std::uint8_t>(one_in(2) ? 0 : random() % 3)};
        view.full = one_in(8);
        view.askable = view.askable && !one_in(8);
        if (!one_in(3)) view.query_rtt = any_time();
        if (!one_in(3)) view.connect_rtt = any_time();
        if (!one_in(3)) view.throughput = any_rate();
    }

    Told any_answer(std::size_t place) {
        Told told{place, ReplyKind{static_cast<std::uint8_t>(1 + random() % 5)}, Protocol::icp, any_time()};
        if (one_in(4)) told.protocol = Protocol::digest;
        if (one_in(3)) told.source_rtt = milliseconds{random() % 200};
        if (one_in(3)) told.size = random() % 1'000'000;
        return told;
    }

    std::size_t place_of_peer(Source const& source) const { return place_of(source.peer->options.name); }
    Told const* told_of(std::size_t place) const {
        for (auto const& told : answers)
            if (told.peer == place) return &told;
        return nullptr;
    }
    bool last_resort(std::size_t place) const { return views[place].health == Health::dead || views[place].full; }

    std::mt19937 random;
    Question asked_for = question();
    std::vector<Told> answers;
};

template <class Check>
void for_worlds(Check check) {
    for (std::uint32_t seed = 1; seed <= 5'000; ++seed) {
        World world(seed);
        auto const sources = choose(world.asked_for, world.views, world.answers);
        SCOPED_TRACE("seed " + std::to_string(seed) + ": " + text_of(sources));
        check(world, sources);
        if (testing::Test::HasFailure()) return;
    }
}
using Sources = std::vector<Source>;

TEST(AnyChoice, is_never_empty_and_names_nobody_twice) {
    for_worlds([](World const&, Sources const& sources) {
        ASSERT_FALSE(sources.empty());
        ASSERT_LE(sources.size(), 8u);
        std::set<Peer const*> seen;
        for (auto const& source : sources) ASSERT_TRUE(seen.insert(source.peer.get()).second);
    });
}

TEST(AnyChoice, holds_to_the_direct_lists) {
    for_worlds([](World const& world, Sources const& sources) {
        auto const origins = std::count_if(sources.begin(), sources.end(), [](Source const& source) { return !source.peer; });
        switch (world.asked_for.direct) {
        case Direct::always: ASSERT_EQ(text_of(sources), "HIER_DIRECT"); break;
        case Direct::may: ASSERT_EQ(origins, 1); break;
        case Direct::never:
            ASSERT_TRUE(origins == 0 || text_of(sources) == "NO_DIRECT_FAIL");
            for (std::size_t place = 0; origins > 0 && place < world.views.size(); ++place) {
                auto const& options = *world.views[place].options;
                auto const* told = world.told_of(place);
                bool const refuses = told && (told->reply == ReplyKind::denied || told->reply == ReplyKind::miss_nofetch);
                ASSERT_TRUE(options.type == PeerOptions::Type::sibling || refuses ||
                            binding_of(options, world.asked_for.host) == Binding::none)
                    << options.name << " is left";
            }
        }
    });
}

TEST(AnyChoice, uses_only_those_who_may_be_used) {
    for_worlds([](World const& world, Sources const& sources) {
        for (auto const& source : sources) {
            if (!source.peer) continue;
            auto const place = world.place_of_peer(source);
            auto const* told = world.told_of(place);
            ASSERT_NE(binding_of(source.peer->options, world.asked_for.host), Binding::none);
            if (told) {
                ASSERT_TRUE(told->reply != ReplyKind::denied && told->reply != ReplyKind::miss_nofetch);
            }
            ASSERT_EQ(source.promised(), told && told->reply == ReplyKind::hit && !world.last_resort(place));
            if (source.promised()) {
                bool const by_digest = source.why == Hierarchy::cd_parent_hit || source.why == Hierarchy::cd_sibling_hit;
                ASSERT_EQ(by_digest, told->protocol == Protocol::digest);
            }
            bool const sibling = source.peer->options.type == PeerOptions::Type::sibling;
            ASSERT_EQ(sibling, source.why == Hierarchy::sibling_hit || source.why == Hierarchy::cd_sibling_hit);
        }
    });
}

TEST(AnyChoice, has_the_dead_and_the_full_after_all_others_and_not_beside_the_origin) {
    for_worlds([](World const& world, Sources const& sources) {
        bool dead_began = false;
        for (auto const& source : sources) {
            bool const dead = source.peer && world.last_resort(world.place_of_peer(source));
            ASSERT_TRUE(dead || !dead_began);
            dead_began = dead_began || dead;
            if (dead) {
                ASSERT_EQ(world.asked_for.direct, Direct::never);
            }
        }
    });
}

TEST(AnyChoice, has_the_suspect_after_the_alive_of_the_same_reason) {
    for_worlds([](World const& world, Sources const& sources) {
        std::set<Hierarchy> suspect_began;
        for (auto const& source : sources) {
            if (!source.peer || world.told_of(world.place_of_peer(source)) || source.why == Hierarchy::any_old_parent) continue;
            auto const health = world.views[world.place_of_peer(source)].health;
            if (health == Health::suspect) suspect_began.insert(source.why);
            ASSERT_TRUE(health == Health::suspect || !suspect_began.contains(source.why) || source.why == Hierarchy::carp);
        }
    });
}

TEST(AnyChoice, has_a_hit_first_unless_the_origin_beats_it) {
    for_worlds([](World const& world, Sources const& sources) {
        bool hit = false;
        for (auto const& told : world.answers) hit = hit || (told.reply == ReplyKind::hit && !world.last_resort(told.peer));
        bool const asks = world.asked_for.hierarchical && world.asked_for.direct != Direct::always;
        if (!hit || !asks) return;
        ASSERT_TRUE(sources[0].promised() || sources[0].why == Hierarchy::source_fastest);
    });
}

TEST(AnyChoice, has_the_hits_by_time_and_weight_where_throughput_is_not_known) {
    for_worlds([](World& world, Sources const&) {
        world.asked_for.size.reset();
        for (auto& told : world.answers) told.size.reset();
        double before = 0;
        for (auto const& source : choose(world.asked_for, world.views, world.answers)) {
            if (!source.promised()) continue;
            auto const place = world.place_of_peer(source);
            auto const& view = world.views[place];
            auto time = world.told_of(place)->took;
            if (world.told_of(place)->protocol == Protocol::digest) time = view.query_rtt.value_or(view.connect_rtt.value_or(time));
            auto const score = static_cast<double>(time.count()) / source.peer->options.weight;
            ASSERT_GE(score, before);
            before = score;
        }
    });
}

TEST(AnyChoice, has_parents_that_missed_before_those_who_have_not_been_asked) {
    for_worlds([](World const& world, Sources const& sources) {
        bool others_began = false;
        for (auto const& source : sources) {
            using enum Hierarchy;
            bool const missed = source.why == first_parent_miss || source.why == closest_parent_miss;
            bool const other = source.why == default_parent || source.why == roundrobin_parent || source.why == firstup_parent ||
                               source.why == any_old_parent;
            ASSERT_FALSE(missed && others_began);
            others_began = others_began || other;
            if (missed) {
                ASSERT_EQ(world.told_of(world.place_of_peer(source))->reply, ReplyKind::miss);
            }
        }
    });
}

TEST(AnyChoice, is_the_same_for_the_same) {
    for_worlds([](World const& world, Sources const& sources) {
        ASSERT_EQ(text_of(sources), text_of(choose(world.asked_for, world.views, world.answers)));
    });
}

TEST(AnyWait, is_bounded_by_the_patience_and_never_for_the_dead) {
    for (std::uint32_t seed = 1; seed <= 5'000; ++seed) {
        SCOPED_TRACE(seed);
        World world(seed);
        auto const whom = plan(world.asked_for, world.views);
        auto const most = patience(whom, world.views, milliseconds{5}, milliseconds{50});
        ASSERT_LE(most, milliseconds{50});
        for (auto const place : whom.ask) ASSERT_FALSE(world.views[place].full || world.views[place].options->no_query);
        std::vector<Told> told;
        for (auto const& answer : world.answers) {
            auto const worth = worth_waiting(world.asked_for, whom, world.views, told, most);
            ASSERT_GE(worth, microseconds{0});
            ASSERT_LE(worth, most);
            told.push_back(answer);
        }
        // All awaited peers have replied.
        for (auto const place : whom.wait_for) {
            ASSERT_EQ(world.views[place].health, Health::alive);
            told.push_back({place, ReplyKind::miss});
        }
        ASSERT_EQ(worth_waiting(world.asked_for, whom, world.views, told, most), microseconds{0});
    }
}

TEST(AnyWait, changes_nothing_when_it_ends_early) {
    // Waiting for the whole timeout finds no better HIT than stopping when waiting is not worth it any more.
    for (std::uint32_t seed = 1; seed <= 5'000; ++seed) {
        World world(seed);
        world.asked_for.size.reset();
        world.asked_for.hierarchical = true;
        for (auto& answer : world.answers) {
            answer.size.reset();
            answer.protocol = Protocol::icp;
        }
        auto const whom = plan(world.asked_for, world.views);
        if (whom.ask.empty() || whom.wait_for.size() != whom.ask.size()) continue;
        bool const known = std::all_of(whom.ask.begin(), whom.ask.end(), [&](std::size_t place) {
            auto const* told = world.told_of(place);
            if (told) world.views[place].query_rtt = told->took;   // each peer always takes the same time
            return world.views[place].query_rtt.has_value();
        });
        if (!known) continue;
        auto const early = resolve(world.asked_for, world.views, world.answers);
        if (!early.sources[0].promised()) continue;
        auto const most = patience(whom, world.views, milliseconds{5}, milliseconds{2'000});
        std::vector<Told> in_time;
        for (auto const& answer : world.answers)
            if (answer.took <= most) in_time.push_back(answer);
        auto const late = choose(world.asked_for, world.views, in_time);
        ASSERT_EQ(early.sources[0].peer, late[0].peer)
            << "seed " << seed << ": " << text_of(early.sources) << " / " << text_of(late);
    }
}

}   // namespace
}   // namespace garner::icp
