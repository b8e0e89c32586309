// A newer response is never replaced by an older one, neither from a disk read nor from a fetch that began earlier.
#include <gtest/gtest.h>

#include "cache/disk_lookup.hpp"
#include "cache/parts.hpp"
#include "cache/scene.hpp"
#include "cache/slow_disk.hpp"
#include "store/run.hpp"

namespace garner::cache {
namespace {

using Kind = Lookup::Kind;

struct Older : ::testing::Test {
    Scene scene;
    SlowDisk disk;
    Key const key = scene.cache.key("u");

    Older() { scene.set_disk(&disk); }

    store::ObjectPtr uncharged(std::string_view body, std::string_view text = "u") {
        store::Object::Parts parts;
        parts.key = text;
        parts.head = "HTTP/1.1 200 OK\r\n";
        parts.bytes = body;
        parts.terms = Scene::terms(1'000);
        parts.sequence = scene.next();
        return store::Object::make(parts, nullptr);
    }
    void fetch_to_disk(std::string_view body) {
        auto lead = scene.cache.lease(key, nullptr);
        EXPECT_TRUE(lead.complete(uncharged(body), {}, ""));
    }
    bool look_on_disk(Lookup& found) {
        auto const request = Scene::head({});
        http::RequestCacheControl const control;
        Query const query{key, request, control, wall_now()};
        EXPECT_TRUE(found.may_be_elsewhere);
        return store::run([&](net::Executor executor) -> net::awaitable<bool> {
            DiskLookup on_disk(scene.cache, query, executor);
            co_return co_await on_disk.look(found);
        });
    }
    store::ObjectPtr tagged(std::string_view tag, std::string_view text = "u") {
        store::Object::Parts parts;
        parts.key = text;
        auto const head = "HTTP/1.1 200 OK\r\nETag: " + std::string(tag) + "\r\n";
        parts.head = head;
        parts.terms = Scene::terms(1'000);
        parts.sequence = scene.next();
        parts.bytes = "x";
        return scene.cache.memory().make_object(parts, key.fingerprint);
    }
    /// The combined answer of memory and disk.
    std::string answer() {
        auto found = scene.lookup("u");
        if (found.may_be_elsewhere) look_on_disk(found);
        return found.object ? std::string(found.object->bytes()) : "-";
    }
    /// Bodies that supersede_on_disk leaves under these keys.
    std::string left(std::vector<std::string> const& keys) const {
        std::string left;
        for (auto const& one : keys) left += disk.stored(one) + " ";
        return left;
    }
};

TEST_F(Older, what_was_replaced_on_disk_while_it_was_read_neither_comes_into_memory_nor_is_sent) {
    fetch_to_disk("old");
    auto found = scene.lookup("u");
    disk.meanwhile = [&] { fetch_to_disk("new"); };
    EXPECT_FALSE(look_on_disk(found));
    EXPECT_FALSE(found.object);
    EXPECT_EQ(scene.cache.memory().stats().objects, 0u);
    EXPECT_EQ(answer(), "new");
}

TEST_F(Older, nor_does_what_was_purged_meanwhile) {
    fetch_to_disk("old");
    auto found = scene.lookup("u");
    disk.meanwhile = [&] { scene.cache.purge(key); };
    EXPECT_FALSE(look_on_disk(found));
    EXPECT_EQ(disk.stored("u"), "-");
    EXPECT_EQ(scene.stored("u"), "-");
    EXPECT_EQ(answer(), "-");
}

TEST_F(Older, nor_what_somebody_is_being_given_a_newer_one_of) {
    fetch_to_disk("old");
    auto found = scene.lookup("u");
    auto lead = scene.cache.lease(key, nullptr);
    disk.meanwhile = [&] { EXPECT_TRUE(scene.give(*lead.fill(), *uncharged("new"), {}, nullptr)); };
    EXPECT_FALSE(look_on_disk(found));
    EXPECT_EQ(answer(), "-");
}

TEST_F(Older, what_is_left_undisturbed_comes_into_memory) {
    fetch_to_disk("old");
    auto found = scene.lookup("u");
    EXPECT_TRUE(look_on_disk(found));
    ASSERT_TRUE(found.object);
    EXPECT_EQ(found.object->bytes(), "old");
    EXPECT_EQ(scene.stored("u"), "old");
}

TEST_F(Older, what_a_HEAD_shows_to_be_over_a_fetch_that_began_before_does_not_store) {
    auto const with = [&](std::string_view lines) {
        store::Object::Parts parts;
        parts.key = "u";
        auto const head = "HTTP/1.1 200 OK\r\n" + std::string(lines);
        parts.head = head;
        parts.terms = Scene::terms(1'000);
        parts.sequence = scene.next();
        parts.bytes = "x";
        return scene.cache.memory().make_object(parts, key.fingerprint);
    };
    struct Case {
        std::string_view head, fetched, stored;
    };
    for (auto const& [head, fetched, stored] :
         {Case{"ETag: \"2\"\r\n", "ETag: \"1\"\r\n", "-"}, Case{"ETag: \"2\"\r\n", "ETag: W/\"2\"\r\n", "x"},
          Case{"ETag: \"2\"\r\n", "", "x"}}) {
        auto before = scene.cache.lease(key, nullptr);
        scene.cache.tell(key, *outline(with(head)->parts()), {}, nullptr);
        before.complete(with(fetched), {}, "");
        EXPECT_EQ(scene.stored("u"), stored) << fetched;
        auto after = scene.cache.lease(key, nullptr);
        after.complete(with(fetched), {}, "");
        EXPECT_EQ(scene.stored("u"), "x") << "the fetch began after the HEAD response";
        scene.cache.purge(key);
    }
    auto own = scene.cache.lease(key, nullptr);
    scene.cache.tell(key, *outline(with("ETag: \"2\"\r\n")->parts()), {}, own.fill().get());
    own.complete(with("ETag: \"1\"\r\n"), {}, "");
    EXPECT_EQ(scene.stored("u"), "x") << "the HEAD response is of the same fetch";
}

TEST_F(Older, nor_does_what_was_there_before_both_stay_fresh) {
    auto before = scene.cache.lease(key, nullptr);
    scene.cache.lease(key, nullptr).complete(tagged("\"1\""), {}, "");
    scene.cache.tell(key, *outline(tagged("\"1\"")->parts()), {}, nullptr);
    ASSERT_EQ(scene.kind("u"), Kind::fresh);
    EXPECT_FALSE(before.complete(tagged("\"2\""), {}, "")) << "a client has received the other response";
    EXPECT_NE(scene.kind("u"), Kind::fresh);
}

TEST_F(Older, a_HEAD_says_nothing_about_the_fetch_of_another_variant) {
    auto const vary = http::parse_vary("accept-encoding");
    auto const variant_of = [](std::string_view coding) { return Scene::variant(Scene::varying("", "accept-encoding", coding)); };
    for (auto const* of_head : {"", "gzip"}) {
        auto fetch = scene.cache.lease(key, nullptr);
        auto const head = tagged("\"x\"", variant_text("u", variant_of(of_head)));
        scene.cache.tell(key, *outline(head->parts()), vary, nullptr);
        bool const is_another = of_head != std::string_view("gzip");
        auto const gzip = variant_of("gzip");
        fetch.complete(tagged("\"x-gzip\"", variant_text("u", gzip)), vary, gzip);
        auto const stored = scene.stored("u", with("accept-encoding", "gzip"));
        EXPECT_EQ(stored, is_another ? "x" : "-") << of_head;
        scene.cache.purge(key);
    }
}

TEST_F(Older, nor_does_anybody_join_a_body_that_a_HEAD_shows_to_be_over) {
    for (bool const comes_later : {true, false}) {
        auto first = scene.lookup("u");
        ASSERT_TRUE(first.lead);
        auto const head = tagged("\"2\"");
        if (!comes_later) scene.cache.tell(key, *outline(head->parts()), {}, nullptr);
        first.lead.head_is_storable(tagged("\"1\""), {}, "");
        if (comes_later) scene.cache.tell(key, *outline(head->parts()), {}, nullptr);
        EXPECT_EQ(scene.kind("u"), Kind::absent) << comes_later;
    }
    for (bool const differs : {false, true}) {
        auto first = scene.lookup("u");
        ASSERT_TRUE(first.lead);
        first.lead.head_is_storable(tagged("\"1\""), {}, "");
        EXPECT_EQ(scene.kind("u"), Kind::busy);
        scene.cache.tell(key, *outline(tagged(differs ? "\"2\"" : "\"1\"")->parts()), {}, nullptr);
        EXPECT_EQ(scene.kind("u"), differs ? Kind::absent : Kind::busy);
    }
}

TEST_F(Older, who_finds_nothing_follows_the_body_that_will_be_stored_whoever_asked_for_it) {
    scene.store("u", {.body = "old"});
    auto reload = scene.cache.lease(key, scene.lookup("u").object);
    auto const newer = scene.object("u", {.body = "ne"});
    reload.head_is_storable(newer, {}, "");
    EXPECT_EQ(scene.stored("u"), "old");
    scene.give_unstored(*reload.fill(), *newer, {});   // a client received all of it
    auto const found = scene.lookup("u");
    EXPECT_EQ(found.kind, Kind::busy);
    EXPECT_EQ(found.follow, reload.fill());
    scene.cache.purge(key);
    EXPECT_EQ(scene.kind("u"), Kind::absent) << "the purged response is not stored";
}

TEST_F(Older, of_several_the_newest_is_followed_and_none_that_is_over_or_would_be_refused) {
    auto slow = scene.cache.lease(key, nullptr);
    auto quick = scene.cache.lease(key, nullptr);
    auto brief = scene.cache.lease(key, nullptr);
    quick.head_is_storable(scene.object("u", {.body = "1"}), {}, "");
    slow.head_is_storable(scene.object("u", {.body = "2"}), {}, "");
    brief.head_is_storable(scene.object("u", {.body = "3", .lifetime = 0}), {}, "");
    auto found = scene.lookup("u");
    EXPECT_EQ(found.follow, slow.fill()) << "a newer fetch that would be refused does not hide this one";
    scene.give_unstored(*slow.fill(), *slow.fill()->view().object, {});
    EXPECT_EQ(scene.lookup("u").follow, slow.fill());
    auto const old = scene.object("u", {.body = "old"});
    auto validation = scene.cache.lease(key, old);   // the object is not cached any more: this fetch is superseded
    validation.head_is_storable(scene.object("u", {.body = "4"}), {}, "");
    EXPECT_EQ(scene.lookup("u").follow, slow.fill());
}

TEST_F(Older, each_HEAD_counts_for_its_own_variant) {
    auto const vary = http::parse_vary("accept-encoding");
    auto const variant_of = [](std::string_view coding) { return Scene::variant(Scene::varying("", "accept-encoding", coding)); };
    auto const gzip = variant_of("gzip");
    auto fetch = scene.cache.lease(key, nullptr);
    for (auto const* coding : {"gzip", "", "br"})
        scene.cache.tell(key, *outline(tagged("\"new\"", variant_text("u", variant_of(coding)))->parts()), vary, nullptr);
    fetch.complete(tagged("\"old\"", variant_text("u", gzip)), vary, gzip);
    EXPECT_EQ(scene.stored("u", with("accept-encoding", "gzip")), "-");
}

TEST_F(Older, numbers_follow_those_of_the_disk_whatever_the_clock_says) {
    EXPECT_EQ(scene.next(), disk.first_sequence() + 1) << "the numbers of the next start may begin a second later";
}

TEST_F(Older, variants_under_another_Vary_go_with_a_broken_fetch) {
    scene.store("u", Scene::varying("one", "accept", "x"));
    ASSERT_EQ(scene.stored("u", with("accept", "x")), "one");
    auto lead = scene.cache.lease(key, nullptr);
    lead.head_is_storable(scene.object("u", {.body = "ne"}), {}, "");
    lead.drop();
    EXPECT_EQ(scene.kind("u", with("accept", "x")), Kind::absent);
}

TEST_F(Older, a_broken_fetch_does_not_make_the_older_one_come_to_the_disk) {
    scene.store("u", {.body = "old"});
    disk.store(scene.lookup("u").object->parts());
    auto const newer = scene.object("u", {.body = "ne"});
    auto lead = scene.cache.lease(key, scene.lookup("u").object);
    EXPECT_TRUE(scene.give(*lead.fill(), *newer, {}, nullptr));
    EXPECT_EQ(disk.stored("u"), "-");
    lead.head_is_storable(newer, {}, "");
    lead.fail({502, "broken off"});
    EXPECT_EQ(disk.stored("u"), "-");
    EXPECT_EQ(scene.lookup("u").kind, Kind::stale);
}

/// A fetch of a newer response was aborted after a client received its first bytes.
TEST_F(Older, what_a_broken_fetch_has_shown_to_be_old_is_fresh_no_more_and_stays) {
    for (auto const kind : {"given up", "failed"}) {
        scene.store("u", {.body = "old"});
        ASSERT_EQ(scene.stored("u"), "old");
        auto lead = scene.cache.lease(key, scene.lookup("u").object);
        lead.head_is_storable(scene.object("u", {.body = "ne"}), {}, "");
        EXPECT_EQ(scene.stored("u"), "old") << "no client has received the new response yet";
        if (kind == std::string_view("failed"))
            lead.fail({502, "broken off"});
        else
            lead.drop();
        auto const found = scene.lookup("u");
        EXPECT_EQ(found.kind, Kind::stale) << kind;
        ASSERT_TRUE(found.object) << kind;
        EXPECT_EQ(found.object->bytes(), "old") << kind;
    }
}

TEST_F(Older, what_was_stale_before_is_left_as_it_is_unless_it_would_answer_without_the_origin) {
    for (std::uint32_t const while_revalidate : {0u, 100u}) {
        scene.store("u", {.body = "old", .lifetime = 0, .while_revalidate = while_revalidate});
        auto const before = scene.lookup("u").object;
        ASSERT_TRUE(before);
        auto lead = scene.cache.lease(key, before);
        lead.head_is_storable(scene.object("u", {.body = "ne"}), {}, "");
        lead.drop();
        auto const found = scene.lookup("u");
        EXPECT_EQ(found.kind, Kind::stale);
        EXPECT_EQ(found.object == before, while_revalidate == 0);
    }
}

TEST_F(Older, a_refresh_that_nobody_followed_leaves_what_there_is) {
    scene.store("u", {.body = "old", .lifetime = 0, .while_revalidate = 100});
    auto refresh = scene.lookup("u");
    ASSERT_EQ(refresh.kind, Kind::refresh);
    refresh.lead.head_is_storable(scene.object("u", {.body = "ne"}), {}, "");
    refresh.lead.fail({502, "broken off"});
    EXPECT_EQ(scene.lookup("u").object, refresh.object);
    EXPECT_GT(refresh.object->terms().stale_while_revalidate, 0u);
}

TEST_F(Older, a_newer_whole_leaves_nothing_older_on_disk_under_the_url) {
    auto const variant = variant_text("u", "x");
    auto const parts = parts_text("u");
    auto const of_variant = parts_text(variant);
    std::vector<std::string> const keys{"u", parts, variant, of_variant};
    auto fill_disk = [&] {
        for (auto const& one : keys) disk.store(uncharged("old", one)->parts());
    };
    auto lead = scene.cache.lease(key, nullptr);
    fill_disk();
    scene.give(*lead.fill(), *uncharged("new"), {}, nullptr);
    EXPECT_EQ(left(keys), "- - old old ") << "variants are found through the marker alone, which had the key of the URL";
    fill_disk();
    scene.give(*lead.fill(), *uncharged("new", variant), http::parse_vary("accept"), nullptr);
    EXPECT_EQ(left(keys), "- - - - ");
}

TEST_F(Older, a_newer_variant_leaves_the_others_where_they_are) {
    scene.store("u", Scene::varying("de", "accept-language", "de"));
    auto const vary = http::parse_vary("accept-language");
    auto const french = variant_text("u", Scene::variant(Scene::varying("", "accept-language", "fr")));
    auto const german = variant_text("u", Scene::variant(Scene::varying("", "accept-language", "de")));
    auto lead = scene.cache.lease(key, nullptr);
    scene.give(*lead.fill(), *uncharged("fr", french), vary, nullptr);
    EXPECT_TRUE(disk.may_have("u")) << "the marker";
    EXPECT_EQ(disk.stored(german), "de");
    scene.give(*lead.fill(), *uncharged("newer", german), vary, nullptr);
    EXPECT_TRUE(disk.may_have("u"));
    EXPECT_EQ(disk.stored(german), "-");
}

TEST_F(Older, what_leaves_memory_while_a_newer_one_comes_does_not_go_to_disk) {
    Options options;
    options.size = 256 * KiB;
    options.policy = "lru";
    Scene small(options);
    SlowDisk behind;
    small.set_disk(&behind);
    small.store("u", {.body = "old"});
    auto lead = small.cache.lease(small.cache.key("u"), nullptr);
    small.give(*lead.fill(), *small.object("u", {.body = "new"}), {}, nullptr);
    std::string const large(8 * KiB, 'x');
    for (int i = 0; i < 100; ++i) small.store("v" + std::to_string(i), {.body = large});
    EXPECT_FALSE(small.cache.memory().find("u", small.cache.key("u").fingerprint));
    EXPECT_EQ(behind.stored("u"), "-");
}

TEST_F(Older, of_two_fetches_at_a_time_that_differ_neither_is_kept) {
    auto quick = scene.cache.lease(key, nullptr);
    auto slow = scene.cache.lease(key, nullptr);   // may have been answered earlier and arrive later
    auto const given = uncharged("given");
    scene.give(*quick.fill(), *given, {}, nullptr);
    EXPECT_TRUE(quick.complete(given, {}, ""));
    auto const late = uncharged("late");
    EXPECT_TRUE(scene.give(*slow.fill(), *late, {}, nullptr)) << "the disk had the other response and removed it";
    EXPECT_EQ(disk.stored("u"), "-");
    EXPECT_FALSE(slow.complete(late, {}, ""));
    EXPECT_EQ(answer(), "-");
    fetch_to_disk("asked for later");
    EXPECT_EQ(disk.stored("u"), "asked for later");
}

TEST_F(Older, what_waited_longer_does_not_come_behind_what_somebody_was_given) {
    auto slow = scene.cache.lease(key, nullptr);
    auto const early = uncharged("early");
    scene.give(*slow.fill(), *early, {}, nullptr);
    auto quick = scene.cache.lease(key, nullptr);
    auto const given = uncharged("given");
    scene.give(*quick.fill(), *given, {}, nullptr);
    EXPECT_TRUE(quick.complete(given, {}, ""));
    EXPECT_FALSE(slow.complete(early, {}, ""));
    EXPECT_EQ(disk.stored("u"), "given");
}

TEST_F(Older, nor_stays_in_memory_what_came_first_of_two_that_differ) {
    auto slow = scene.cache.lease(key, nullptr);
    scene.store("u", {.body = "first"});
    auto const first = scene.object("u", {.body = "first"});
    auto quick = scene.cache.lease(key, nullptr);
    scene.give(*quick.fill(), *first, {}, nullptr);
    EXPECT_TRUE(quick.complete(first, {}, ""));
    auto const last = scene.object("u", {.body = "last"});
    scene.give(*slow.fill(), *last, {}, nullptr);
    EXPECT_FALSE(slow.complete(last, {}, ""));
    EXPECT_EQ(answer(), "-");
}

TEST_F(Older, nor_what_was_stored_since_a_purge_that_a_fetch_outlived) {
    auto slow = scene.cache.lease(key, nullptr);
    scene.cache.purge(key);
    scene.store("u", {.body = "since"});
    fetch_to_disk("since");
    auto const last = uncharged("made last, perhaps");
    EXPECT_TRUE(scene.give(*slow.fill(), *last, {}, nullptr));
    EXPECT_FALSE(slow.complete(last, {}, ""));
    EXPECT_EQ(disk.stored("u"), "-");
    EXPECT_EQ(answer(), "-");
}

TEST_F(Older, variants_at_a_time_are_all_kept_and_so_is_one_representation_twice) {
    auto const vary = http::parse_vary("accept");
    for (auto const* tag : {"", "ETag: \"1\"\r\n"}) {
        auto first = scene.cache.lease(key, nullptr);
        auto second = scene.cache.lease(key, nullptr);
        auto const object = [&](std::string_view text) {
            auto const head = std::string("HTTP/1.1 200 OK\r\n") + tag;
            auto const untagged = uncharged("kept", text);
            auto parts = untagged->parts();
            parts.head = head;
            parts.sequence = scene.next();
            return store::Object::make(parts, nullptr);
        };
        bool const tagged = *tag != '\0';
        auto const a = object(variant_text("u", "x")), b = object(variant_text("u", tagged ? "x" : "y"));
        scene.give(*first.fill(), *a, vary, nullptr);
        scene.give(*second.fill(), *b, vary, nullptr);
        EXPECT_TRUE(first.complete(a, vary, "x")) << tag;
        EXPECT_TRUE(second.complete(b, vary, tagged ? "x" : "y")) << tag;
    }
}

// ---- without a disk ----

TEST(OlderInMemory, a_newer_one_that_is_not_kept_leaves_no_older_one) {
    Scene scene;
    scene.store("u", {.body = "old"});
    auto lead = scene.cache.lease(scene.cache.key("u"), nullptr);
    store::Object::Parts parts;
    parts.key = "u";
    parts.sequence = scene.next();
    EXPECT_FALSE(lead.complete(store::Object::make(parts, nullptr), {}, ""));
    EXPECT_EQ(scene.stored("u"), "-");
    scene.store("u", Scene::varying("old", "accept", "x"));
    auto again = scene.cache.lease(scene.cache.key("u"), nullptr);
    parts.sequence = scene.next();
    EXPECT_FALSE(again.complete(store::Object::make(parts, nullptr), {}, ""));
    EXPECT_EQ(scene.cache.memory().stats().objects, 0u) << "marker and variant";
}

TEST(OlderInMemory, a_fetch_that_began_before_what_was_answered_leads_nobody_and_is_not_stored) {
    Scene scene;
    auto slow = scene.lookup("u");
    slow.lead.head_is_storable(scene.object("u", {.body = "old"}), {}, "");
    EXPECT_EQ(scene.kind("u"), Kind::busy);
    auto quick = scene.cache.lease(scene.cache.key("u"), nullptr);
    store::Object::Parts parts;
    parts.key = "u";
    parts.sequence = scene.next();
    quick.complete(store::Object::make(parts, nullptr), {}, "");   // no free memory for it
    EXPECT_EQ(scene.kind("u"), Kind::absent);
    scene.complete(slow.lead, "u", {.body = "old"});
    EXPECT_EQ(scene.stored("u"), "-");
}

}   // namespace
}   // namespace garner::cache
