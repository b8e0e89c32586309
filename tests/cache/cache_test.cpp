// Lookups, storing, and removal by purges, invalidation and eviction.
#include "cache/cache.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cache/scene.hpp"

namespace garner::cache {
namespace {

using Kind = Lookup::Kind;
using Phase = FillView::Phase;

TEST(Cache, an_unknown_url_is_absent_and_its_fetch_is_ours_to_lead) {
    Scene scene;
    auto found = scene.lookup("u");
    EXPECT_EQ(found.kind, Kind::absent);
    EXPECT_TRUE(found.lead);
    EXPECT_TRUE(found.lead.fill()->leads_others());
    EXPECT_FALSE(found.follow);
    EXPECT_FALSE(found.object);
    EXPECT_EQ(scene.cache.memory().stats().fills, 1u);
}

TEST(Cache, what_is_stored_is_fresh_until_its_lifetime_is_over) {
    Scene scene;
    auto now = wall_now();
    scene.store("u", {.body = "hello", .lifetime = 100});
    EXPECT_EQ(scene.stored("u", at(now + seconds{99})), "hello");
    EXPECT_EQ(scene.kind("u", at(now + seconds{101})), Kind::stale);
    EXPECT_EQ(scene.stored("v"), "-");
}

TEST(Cache, what_is_forgotten_altogether_is_not_stored_by_a_fetch_in_progress) {
    Scene scene(Options{.shards = 4});
    std::vector<std::string> const urls{"a", "b", "c", "d", "e", "f"};
    for (auto const& url : urls) scene.store(url, {.body = "old"});
    for (auto const* language : {"de", "en"}) scene.store("g", Scene::varying("old", "Accept-Language", language));
    auto before = scene.lookup("h");
    auto& failures = scene.cache.memory().failures();
    failures.remember(scene.cache.key("i"), {504, "no answer"}, false, {}, steady_now());
    scene.cache.memory().forget_all();
    auto const stats = scene.cache.memory().stats();
    EXPECT_EQ(stats.objects + stats.fills + stats.failures + stats.cached, 0u);
    scene.complete(before.lead, "h", {.body = "old"});
    for (auto const& url : urls) EXPECT_EQ(scene.stored(url), "-") << url;
    EXPECT_EQ(scene.stored("g", with("Accept-Language", "de")), "-");
    EXPECT_EQ(scene.stored("h"), "-");
    scene.store("h", {.body = "new"});
    EXPECT_EQ(scene.stored("h"), "new");
}

TEST(Cache, one_leads_the_validation_of_what_is_stale_and_others_follow) {
    Scene scene;
    auto later = at(wall_now() + seconds{200});
    scene.store("u", {.body = "old", .lifetime = 100});
    auto first = scene.lookup("u", later);
    EXPECT_EQ(first.kind, Kind::stale);
    ASSERT_TRUE(first.lead);
    EXPECT_EQ(first.object->bytes(), "old");
    auto second = scene.lookup("u", later);
    EXPECT_EQ(second.kind, Kind::stale);
    EXPECT_EQ(second.follow, first.lead.fill());
    EXPECT_FALSE(second.lead);
    scene.complete(first.lead, "u", {.body = "new", .request = later});
    EXPECT_EQ(scene.stored("u", later), "new");
    EXPECT_EQ(scene.cache.memory().stats().objects, 1u);
    EXPECT_EQ(scene.cache.memory().stats().fills, 0u);
}

TEST(Cache, one_revalidates_behind_what_may_be_sent_stale_meanwhile_whoever_asks) {
    Scene scene;
    auto later = at(wall_now() + seconds{105});
    scene.store("u", {.body = "old", .lifetime = 100, .while_revalidate = 10});
    auto alone = later;
    alone.collapse = Collapse::alone;
    auto first = scene.lookup("u", alone);
    EXPECT_EQ(first.kind, Kind::refresh);
    EXPECT_EQ(first.object->bytes(), "old");
    ASSERT_TRUE(first.lead);
    auto second = scene.lookup("u", later);
    EXPECT_EQ(second.kind, Kind::refresh);
    EXPECT_EQ(second.object, first.object);
    EXPECT_FALSE(second.lead);
    EXPECT_FALSE(second.follow);
    EXPECT_EQ(scene.kind("u", at(wall_now() + seconds{111})), Kind::stale);
    scene.complete(first.lead, "u", {.body = "new", .request = later});
    EXPECT_EQ(scene.stored("u", later), "new");
}

TEST(Cache, what_must_go_alone_neither_leads_nor_follows) {
    Scene scene;
    Ask alone;
    alone.collapse = Collapse::alone;
    auto absent = scene.lookup("u", alone);
    EXPECT_EQ(absent.kind, Kind::absent);
    EXPECT_FALSE(absent.lead);
    EXPECT_FALSE(absent.follow);
    auto leader = scene.lookup("u");
    EXPECT_FALSE(scene.lookup("u", alone).follow);
    scene.complete(leader.lead, "u", {.lifetime = 0});
    alone.now += seconds{10};
    auto stale = scene.lookup("u", alone);
    EXPECT_EQ(stale.kind, Kind::stale);
    EXPECT_FALSE(stale.lead);
    EXPECT_FALSE(stale.follow);
}

TEST(Cache, peek_tells_what_is_fresh_for_whom) {
    Scene scene({.policy = "lru"});
    auto fresh = [&](std::string_view url, Ask const& ask = {}) { return scene.peek(url, ask).kind == Lookup::Kind::fresh; };
    scene.store("u", {.lifetime = 100});
    scene.store("v", Scene::varying("german", "accept-language", "de"));
    EXPECT_TRUE(fresh("u"));
    EXPECT_FALSE(fresh("u", at(wall_now() + seconds{200})));
    EXPECT_FALSE(fresh("w"));
    EXPECT_TRUE(fresh("v", with("accept-language", "de")));
    EXPECT_FALSE(fresh("v", with("accept-language", "fr")));
    EXPECT_EQ(scene.cache.memory().stats().fills, 0u);
}

TEST(Cache, peek_finds_what_a_lookup_would_and_leaves_no_trace) {
    Scene scene({.size = 70 * KiB, .policy = "lru", .object_max = 16 * KiB, .shards = 1});
    auto peek = [&](std::string_view url, Ask const& ask = {}) { return scene.peek(url, ask); };
    EXPECT_EQ(peek("/a").kind, Lookup::Kind::absent);
    EXPECT_TRUE(peek("/a").fetches.empty());
    EXPECT_EQ(scene.cache.memory().stats().fills, 0u);
    {
        auto leader = scene.lookup("/a");
        auto found = peek("/a");
        EXPECT_EQ(found.kind, Lookup::Kind::busy);
        EXPECT_EQ(found.follow, leader.lead.fill());
        EXPECT_EQ(peek("/a", {.collapse = Collapse::alone}).kind, Lookup::Kind::absent);
        EXPECT_EQ(peek("/a", {.collapse = Collapse::alone}).fetches.size(), 1u);
        scene.complete(leader.lead, "/a");
    }
    auto const now = wall_now();
    EXPECT_EQ(peek("/a").kind, Lookup::Kind::fresh);
    EXPECT_EQ(peek("/a", at(now + seconds{2'000})).kind, Lookup::Kind::stale);
    EXPECT_EQ(peek("/a", at(now + seconds{2'000})).answer.reason, http::ReuseReason::stale);
    EXPECT_EQ(scene.cache.memory().stats().fills, 0u);

    // If peeking counted as a use, a less recently used object would be evicted instead.
    std::string const body(10 * KiB, 'x');
    Answer large;
    large.body = body;
    for (auto url : {"/b", "/c", "/d", "/e", "/f", "/g", "/h"}) {
        EXPECT_TRUE(scene.cache.memory().stats().evictions > 0 || peek("/a").object);
        scene.store(url, large);
    }
    EXPECT_EQ(scene.cache.memory().stats().evictions, 2u) << "/a is evicted, and because it was small, the next object too";
    EXPECT_FALSE(peek("/a").object);
    EXPECT_FALSE(peek("/b").object);
    EXPECT_TRUE(peek("/c").object);
}

TEST(Cache, peek_tells_variants_and_refused_sharing) {
    Scene scene;
    for (auto language : {"de", "fr"}) scene.store("/a", Scene::varying(language, "accept-language", language));
    auto const ask = with("accept-language", "en");
    auto found = scene.peek("/a", ask);
    EXPECT_EQ(found.vary, "accept-language");
    EXPECT_EQ(found.selected, "accept-language:en\n");
    EXPECT_EQ(found.variants, (std::vector<std::string>{"accept-language:de\n", "accept-language:fr\n"}));
    EXPECT_TRUE(found.variant_missing);

    scene.lookup("/b").lead.refuse("private");
    found = scene.peek("/b");
    EXPECT_EQ(found.kind, Lookup::Kind::hit_for_pass);
    EXPECT_GT(found.hit_for_pass_until, unix_seconds(wall_now()) + 100);
}

TEST(Cache, a_purge_removes_the_url_and_says_whether_something_was_there) {
    Scene scene;
    EXPECT_FALSE(scene.cache.purge(scene.cache.key("u")));
    scene.store("u");
    scene.store("other");
    EXPECT_TRUE(scene.cache.purge(scene.cache.key("u")));
    EXPECT_FALSE(scene.cache.purge(scene.cache.key("u")));
    EXPECT_EQ(scene.kind("u"), Kind::absent);
    EXPECT_EQ(scene.stored("other"), "body");
}

TEST(Cache, a_purge_during_a_fetch_keeps_its_answer_from_being_stored) {
    Scene scene;
    auto leader = scene.lookup("u");
    Follower follower(scene.lookup("u").follow);
    EXPECT_TRUE(scene.cache.purge(scene.cache.key("u")));
    auto next = scene.lookup("u");
    EXPECT_EQ(next.kind, Kind::absent) << "requests after a purge do not join fetches that began before it";
    scene.complete(leader.lead, "u", {.body = "old"});
    EXPECT_EQ(follower.view().phase, Phase::complete) << "the follower reads to the end";
    EXPECT_EQ(follower.view().object->bytes(), "old");
    EXPECT_EQ(scene.cache.memory().stats().objects, 0u);
    scene.complete(next.lead, "u", {.body = "new"});
    EXPECT_EQ(scene.stored("u"), "new");
}

TEST(Cache, an_invalidation_between_the_conditional_request_and_its_304_holds) {
    Scene scene;
    auto later = at(wall_now() + seconds{200});
    scene.store("u", {.body = "old", .lifetime = 100});
    auto leading = scene.lookup("u", later);
    auto beside = scene.cache.lease(scene.cache.key("u"), leading.object);
    EXPECT_TRUE(scene.cache.purge(scene.cache.key("u")));
    scene.complete(leading.lead, "u", {.body = "old", .request = later});
    scene.complete(beside, "u", {.body = "old", .request = later});
    EXPECT_EQ(scene.kind("u", later), Kind::absent);
    EXPECT_EQ(scene.cache.memory().stats().objects, 0u);
}

TEST(Cache, a_follower_promoted_after_a_purge_still_stores_nothing) {
    Scene scene;
    auto leader = scene.lookup("u");
    Follower follower(scene.lookup("u").follow);
    scene.cache.purge(scene.cache.key("u"));
    leader.lead.drop();
    ASSERT_TRUE(follower.promoted());
    auto lead = follower.take_lead();
    scene.complete(lead, "u");
    EXPECT_EQ(scene.cache.memory().stats().objects, 0u);
}

TEST(Cache, an_answer_that_came_earlier_does_not_replace_a_later_one) {
    Scene scene;
    auto slow = scene.cache.lease(scene.cache.key("u"), nullptr);
    auto early = scene.object("u", {.body = "early"});
    scene.store("u", {.body = "late"});
    slow.complete(early, {}, {});
    EXPECT_EQ(scene.stored("u"), "late");
}

TEST(Cache, forgets_one_object_and_nothing_that_took_its_place) {
    Scene scene;
    for (std::string_view language : {"de", "en"}) scene.store("u", Scene::varying(language, "accept-language", language));
    auto const german = Scene::varying("", "accept-language", "de").request;
    auto const english = Scene::varying("", "accept-language", "en").request;
    auto const found = scene.lookup("u", german).object;
    scene.cache.forget(scene.cache.key("u"), *found);
    EXPECT_EQ(scene.stored("u", german), "-");
    EXPECT_EQ(scene.stored("u", english), "en");
    scene.store("u", Scene::varying("new", "accept-language", "de"));
    scene.cache.forget(scene.cache.key("u"), *found);
    EXPECT_EQ(scene.stored("u", german), "new");
}

TEST(Cache, an_object_the_budget_has_no_room_for_is_shared_but_not_stored) {
    Scene scene;
    auto leader = scene.lookup("u");
    Follower follower(scene.lookup("u").follow);
    auto body = scene.cache.memory().make_body(100'000);
    auto room = scene.cache.memory().room(*body, 0);
    body->grow(room.size());
    body->finish(store::Body::State::complete);
    store::Object::Parts parts;
    parts.key = "u";
    parts.body = body;
    // The body is charged but its head is not, so the object must not enter the index.
    leader.lead.complete(store::Object::make(parts, nullptr), {}, {});
    EXPECT_EQ(follower.view().phase, Phase::complete);
    EXPECT_EQ(scene.cache.memory().stats().objects, 0u);
}

// ---- uncacheable responses ----

TEST(Cache, a_refused_answer_makes_later_requests_fetch_beside_each_other_for_two_minutes) {
    Scene scene;
    auto leader = scene.lookup("u");
    Follower follower(scene.lookup("u").follow);
    leader.lead.refuse("private");
    EXPECT_EQ(follower.view().phase, Phase::refused);
    EXPECT_STREQ(follower.view().reason, "private");
    auto now = wall_now();
    auto one = scene.lookup("u", at(now)), two = scene.lookup("u", at(now + seconds{118}));
    EXPECT_EQ(one.kind, Kind::hit_for_pass);
    EXPECT_EQ(two.kind, Kind::hit_for_pass);
    EXPECT_TRUE(one.lead && two.lead);
    EXPECT_FALSE(one.lead.fill()->leads_others());
    EXPECT_EQ(scene.kind("other"), Kind::absent);
    one.lead.refuse("private");
    EXPECT_EQ(scene.kind("u", at(now + seconds{122})), Kind::absent) << "a refusal of a concurrent fetch does not prolong the mark";
}

TEST(Cache, an_answer_that_is_stored_after_all_ends_passing) {
    Scene scene;
    scene.lookup("u").lead.refuse("private");
    auto beside = scene.lookup("u");
    EXPECT_EQ(beside.kind, Kind::hit_for_pass);
    scene.complete(beside.lead, "u", {.lifetime = 0});
    EXPECT_EQ(scene.kind("u", at(wall_now() + seconds{5})), Kind::stale);
    scene.cache.purge(scene.cache.key("u"));
    EXPECT_EQ(scene.kind("u"), Kind::absent);
}

TEST(Cache, nobody_queues_for_the_validation_of_what_is_no_longer_shared) {
    Scene scene;
    scene.store("u", {.lifetime = 100});
    auto later = at(wall_now() + seconds{101});
    auto leader = scene.lookup("u", later);
    leader.lead.refuse("no-store");
    auto one = scene.lookup("u", later), two = scene.lookup("u", later);
    EXPECT_EQ(one.kind, Kind::stale);
    EXPECT_TRUE(one.lead && two.lead);
    EXPECT_FALSE(two.follow);
}

TEST(Cache, a_body_too_large_to_keep_is_followed_no_more_and_passes) {
    Scene scene;
    auto leader = scene.lookup("u");
    leader.lead.head_is_storable(scene.object("u"), {}, {});
    EXPECT_EQ(scene.lookup("u").kind, Kind::busy);
    leader.lead.stop_storing("larger than object_max");
    EXPECT_EQ(scene.lookup("u").kind, Kind::hit_for_pass);
    scene.complete(leader.lead, "u");
    EXPECT_EQ(scene.cache.memory().stats().objects, 0u);
}

// ---- variants ----

TEST(Variants, each_request_gets_the_one_it_selects) {
    Scene scene;
    scene.store("u", Scene::varying("german", "accept-language", "de"));
    scene.store("u", Scene::varying("french", "accept-language", "fr"));
    EXPECT_EQ(scene.stored("u", with("accept-language", "de")), "german");
    EXPECT_EQ(scene.stored("u", with("accept-language", "FR")), "french");
    auto other = scene.lookup("u", with("accept-language", "es"));
    EXPECT_EQ(other.kind, Kind::absent);
    EXPECT_TRUE(other.variant_missing);
    EXPECT_TRUE(scene.lookup("u").variant_missing);
    EXPECT_FALSE(scene.lookup("v").variant_missing);
}

TEST(Variants, a_purge_takes_all_of_them) {
    Scene scene;
    scene.store("u", Scene::varying("german", "accept-language", "de"));
    scene.store("u", Scene::varying("french", "accept-language", "fr"));
    EXPECT_EQ(scene.cache.memory().stats().objects, 3u);
    EXPECT_TRUE(scene.cache.purge(scene.cache.key("u")));
    EXPECT_EQ(scene.cache.memory().stats().objects, 0u);
    EXPECT_EQ(scene.used(), 0u);
}

TEST(Variants, at_most_64_and_the_oldest_goes) {
    Scene scene;
    auto store = [&](int i) {
        auto name = std::to_string(i);
        scene.store("u", Scene::varying(name, "x-kind", name));
    };
    auto stored = [&](int i) { return scene.stored("u", with("x-kind", std::to_string(i))); };
    for (int i = 0; i < 64; ++i) store(i);
    EXPECT_EQ(stored(0), "0");
    store(0);   // stored again, so now the most recently used
    store(64);
    EXPECT_EQ(stored(0), "0");
    EXPECT_EQ(stored(1), "-");
    EXPECT_EQ(stored(2), "2");
    EXPECT_EQ(stored(64), "64");
    EXPECT_EQ(scene.cache.memory().stats().objects, 65u);
}

TEST(Variants, another_vary_takes_the_place_of_the_old_one_with_all_variants) {
    Scene scene;
    scene.store("u", Scene::varying("german", "accept-language", "de"));
    scene.store("u", Scene::varying("zipped", "accept-encoding", "gzip"));
    EXPECT_EQ(scene.stored("u", with("accept-encoding", "gzip")), "zipped");
    EXPECT_EQ(scene.stored("u", with("accept-language", "de")), "-");
    EXPECT_EQ(scene.cache.memory().stats().objects, 2u);
}

TEST(Variants, an_answer_without_vary_takes_the_place_of_marker_and_variants) {
    Scene scene;
    scene.store("u", Scene::varying("german", "accept-language", "de"));
    scene.store("u", {.body = "for all"});
    EXPECT_EQ(scene.stored("u", with("accept-language", "de")), "for all");
    EXPECT_EQ(scene.cache.memory().stats().objects, 1u);
    scene.store("u", Scene::varying("german", "accept-language", "de"));
    EXPECT_EQ(scene.stored("u", with("accept-language", "de")), "german");
    EXPECT_EQ(scene.stored("u"), "-");
    EXPECT_EQ(scene.cache.memory().stats().objects, 2u);
}

TEST(Variants, vary_star_is_never_stored) {
    Scene scene;
    auto lead = scene.cache.lease(scene.cache.key("u"), nullptr);
    http::VaryNames star{.star = true, .names = {}};
    lead.complete(scene.object("u"), star, {});
    EXPECT_EQ(scene.cache.memory().stats().objects, 0u);
    EXPECT_EQ(scene.used(), 0u);
}

TEST(Variants, a_304_that_brings_another_vary_leaves_nothing_behind_that_is_never_found) {
    Scene scene;
    auto later = at(wall_now() + seconds{200});
    scene.store("u", {.body = "old", .lifetime = 100});
    auto leader = scene.lookup("u", later);
    leader.lead.complete(scene.object("u", {.body = "old"}), http::parse_vary("accept"), "accept\n");
    EXPECT_EQ(scene.cache.memory().stats().objects, 1u);
    EXPECT_EQ(scene.kind("u", later), Kind::stale);
}

TEST(Variants, a_fetch_in_progress_is_followed_by_those_it_selects) {
    Scene scene;
    auto german = Scene::varying("german", "accept-language", "de");
    auto leader = scene.lookup("u", german.request);
    EXPECT_EQ(scene.kind("u", with("accept-language", "fr")), Kind::busy) << "the variant is unknown before the head";
    leader.lead.head_is_storable(scene.object("u", german), http::parse_vary(german.vary), Scene::variant(german));
    EXPECT_EQ(scene.kind("u", german.request), Kind::busy);
    EXPECT_TRUE(leader.lead.fill()->selects(Scene::head(german.request).fields));
    auto french = with("accept-language", "fr");
    EXPECT_FALSE(leader.lead.fill()->selects(Scene::head(french).fields));
    auto other = scene.lookup("u", french);
    EXPECT_EQ(other.kind, Kind::absent);
    EXPECT_TRUE(other.lead);
}

TEST(Variants, a_validated_variant_keeps_its_place_among_them) {
    Scene scene;
    auto german = Scene::varying("german", "accept-language", "de");
    german.lifetime = 100;
    scene.store("u", german);
    auto later = german.request;
    later.now += seconds{200};
    auto leader = scene.lookup("u", later);
    ASSERT_EQ(leader.kind, Kind::stale);
    german.request = later;
    scene.complete(leader.lead, "u", german);
    EXPECT_EQ(scene.stored("u", later), "german");
    EXPECT_EQ(scene.cache.memory().stats().objects, 2u);
}

// If a marker did not count as used, LRU would evict it first, together with its variants.
TEST(Variants, that_are_in_use_do_not_leave_with_their_marker) {
    Scene scene({.size = 64 * KiB, .policy = "lru", .object_max = 32 * KiB, .shards = 1});
    std::string big(4'000, 'x');
    scene.store("u", Scene::varying("german", "accept-language", "de"));
    for (int i = 0; i < 100; ++i) {
        scene.store("filler" + std::to_string(i), {.body = big});
        ASSERT_EQ(scene.stored("u", with("accept-language", "de")), "german") << i;
    }
    EXPECT_GT(scene.cache.memory().stats().evictions, 50u);
}

TEST(Variants, leave_with_their_marker_when_it_is_evicted) {
    Scene scene({.size = 64 * KiB, .policy = "lru", .object_max = 32 * KiB, .shards = 1});
    std::string big(4'000, 'x');
    scene.store("u", Scene::varying("german", "accept-language", "de"));
    scene.store("u", Scene::varying("french", "accept-language", "fr"));
    for (int i = 0; i < 100; ++i) scene.store("filler" + std::to_string(i), {.body = big});
    EXPECT_FALSE(scene.lookup("u").variant_missing) << "the marker is gone";
    for (int i = 0; i < 100; ++i) scene.cache.purge(scene.cache.key("filler" + std::to_string(i)));
    EXPECT_EQ(scene.cache.memory().stats().objects, 0u);
    EXPECT_EQ(scene.used(), 0u);
}

}   // namespace
}   // namespace garner::cache
