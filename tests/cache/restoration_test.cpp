// The objects of a former process are added to a running cache, most valuable first; no event of this process is undone.
#include "cache/restoration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cache/scene.hpp"
#include "cache/value_walk.hpp"
#include "store/object_stream.hpp"

namespace garner::cache {
namespace {

using testing::ElementsAre;

Options options(Bytes size = 4 * MiB) {
    Options options;
    options.size = size;
    options.policy = "lru";
    options.object_max = MiB;
    options.shards = 1;
    return options;
}

/// All objects of a cache, as another process receives them.
std::string stream_of(MemoryTier& memory) {
    std::string bytes;
    store::ObjectWriter writer(1, [&](std::string_view more) {
        bytes += more;
        return true;
    });
    ValueWalk walk(memory);
    for (std::vector<ValueWalk::Walked> some; walk.next(some); some.clear())
        for (auto const& one : some) writer.write(*one.object);
    writer.flush();
    return bytes;
}

void restore(Restoration& restoration, std::string const& bytes) {
    store::RecordStream stream;
    stream.add(bytes);
    stream.end();
    while (auto const record = stream.next()) restoration.take(*record);
}

struct Restorations : ::testing::Test {
    Scene former{options()};
    Scene scene{options()};
    std::optional<Restoration> restoration{std::in_place, scene.cache};

    void restore_all() { restore(*restoration, stream_of(former.cache.memory())); }
};

TEST_F(Restorations, add_all_objects) {
    former.store("fa", {.body = "first"});
    former.store("fb", {.body = std::string_view("second")});
    restore_all();
    EXPECT_EQ(scene.stored("fa"), "first");
    EXPECT_EQ(scene.stored("fb"), "second");
    EXPECT_EQ(restoration->figures().added, 2u);
    restoration.reset();
    EXPECT_EQ(scene.stored("fa"), "first");
    EXPECT_EQ(scene.used(), former.used());
}

TEST_F(Restorations, add_large_bodies) {
    for (Bytes const length : {Bytes{20'000}, 64 * KiB, 64 * KiB + 1, 300 * KiB}) {
        std::string const url = "f" + std::to_string(length);
        auto body = former.cache.memory().make_body(length);
        while (body->size() < length) {
            auto const room = former.cache.memory().room(*body, 0);
            ASSERT_FALSE(room.empty());
            std::ranges::fill(room, 'x');
            body->grow(room.size());
        }
        body->finish(store::Body::State::complete);
        store::Object::Parts parts;
        parts.key = url;
        parts.head = "HTTP/1.1 200 OK\r\n";
        parts.body = body;
        parts.terms = Scene::terms(1'000);
        parts.sequence = former.next();
        auto lead = former.cache.lease(former.cache.key(url), nullptr);
        lead.complete(former.cache.memory().make_object(parts, former.cache.key(url).fingerprint), {}, {});
    }
    restore_all();
    EXPECT_EQ(restoration->figures().added, 4u);
    auto const found = scene.lookup("f" + std::to_string(300 * KiB));
    ASSERT_EQ(found.kind, Lookup::Kind::fresh);
    ASSERT_TRUE(found.object->body());
    EXPECT_TRUE(found.object->body()->is_resident());
    EXPECT_EQ(found.object->body()->size(), 300 * KiB);
    EXPECT_EQ(scene.cache.memory().stats().filling, 0u);
}

TEST_F(Restorations, keep_the_order_of_eviction) {
    for (auto const* url : {"fa", "fb", "fc", "fd"}) former.store(url);
    EXPECT_EQ(former.stored("fb"), "body") << "now the most recently used";
    restore_all();
    scene.store("fnew");
    restoration.reset();
    std::vector<std::string> order;
    auto& shard = scene.cache.memory().shard(0);
    MutexLock const lock(shard.mutex);
    while (auto const victim = shard.evict()) order.emplace_back(victim->key());
    EXPECT_THAT(order, ElementsAre("fa", "fc", "fd", "fb", "fnew"));
}

TEST_F(Restorations, keep_the_order_of_ranks) {
    for (auto const* url : {"fa", "fb", "fc", "fd"}) former.store(url);
    std::string bytes;
    store::ObjectWriter writer(1, [&](std::string_view more) {
        bytes += more;
        return true;
    });
    std::vector<ValueWalk::Walked> found;
    ValueWalk walk(former.cache.memory());
    while (walk.next(found)) {
    }
    ASSERT_EQ(found.size(), 4u);
    std::vector<std::optional<std::uint64_t>> const ranks{std::nullopt, 3, 1, 2};
    for (std::size_t i = 0; i < found.size(); ++i) writer.write(*found[i].object, ranks[i]);
    writer.flush();
    restore(*restoration, bytes);
    restoration.reset();
    std::vector<std::string> order;
    auto& shard = scene.cache.memory().shard(0);
    MutexLock const lock(shard.mutex);
    while (auto const victim = shard.evict()) order.emplace_back(victim->key());
    EXPECT_THAT(order, ElementsAre("fc", "fa", "fb", "fd"));
}

TEST_F(Restorations, add_no_object_of_a_url_with_an_event) {
    for (auto const* url : {"fpurged", "ffetched", "fbeing-fetched", "fstored", "fother"}) former.store(url, {.body = "older"});
    scene.cache.purge(scene.cache.key("fpurged"));
    { auto const ended = scene.cache.lease(scene.cache.key("ffetched"), nullptr); }
    auto const running = scene.cache.lease(scene.cache.key("fbeing-fetched"), nullptr);
    scene.store("fstored", {.body = "newer"});
    restore_all();
    EXPECT_EQ(scene.peek("fpurged").kind, Lookup::Kind::absent);
    EXPECT_EQ(scene.peek("ffetched").kind, Lookup::Kind::absent);
    EXPECT_FALSE(scene.peek("fbeing-fetched").object);
    EXPECT_EQ(scene.stored("fstored"), "newer");
    EXPECT_EQ(scene.stored("fother"), "older");
    EXPECT_EQ(restoration->figures().overtaken, 4u);
}

TEST_F(Restorations, add_nothing_after_removals_without_urls) {
    former.store("fa");
    auto const bytes = stream_of(former.cache.memory());
    Restoration::end_all(scene.cache.memory());
    restore(*restoration, bytes);
    EXPECT_EQ(scene.peek("fa").kind, Lookup::Kind::absent);
    restoration.reset();
    restoration.emplace(scene.cache);
    scene.cache.memory().forget_all();
    restore(*restoration, bytes);
    EXPECT_EQ(scene.peek("fa").kind, Lookup::Kind::absent);
}

TEST_F(Restorations, give_objects_lower_numbers_than_later_responses) {
    for (int i = 0; i < 100; ++i) former.next();
    former.store("fa", {.body = "older"});
    for (std::uint64_t const known : {0u, 50u, 200u}) {
        restoration.reset();
        scene.cache.memory().forget_all();
        restoration.emplace(scene.cache, known);
        EXPECT_GE(scene.cache.numbers.last(), known);
        restore_all();
        EXPECT_EQ(scene.stored("fa"), "older");
        scene.store("fa", {.body = "newer"});
        EXPECT_EQ(scene.stored("fa"), "newer") << known;
    }
}

TEST_F(Restorations, add_no_object_that_was_invalidated_before) {
    for (int i = 0; i < 100; ++i) former.next();
    former.store("fhttp://a.example/x");
    former.store("fhttp://b.example/x");
    scene.cache.invalidate(*prefix_invalidation("http://a.example/", false));
    restore_all();
    EXPECT_EQ(scene.peek("fhttp://a.example/x").kind, Lookup::Kind::absent);
    EXPECT_EQ(scene.peek("fhttp://b.example/x").kind, Lookup::Kind::fresh);
    scene.cache.invalidate(*prefix_invalidation("http://b.example/", false));
    EXPECT_EQ(scene.peek("fhttp://b.example/x").kind, Lookup::Kind::absent) << "and afterwards";
}

TEST_F(Restorations, add_variants_that_a_purge_removes) {
    former.store("fa", Scene::varying("plain", "Accept", "text/plain"));
    former.store("fa", Scene::varying("html", "Accept", "text/html"));
    restore_all();
    EXPECT_EQ(scene.stored("fa", with("Accept", "text/plain")), "plain");
    EXPECT_EQ(scene.stored("fa", with("Accept", "text/html")), "html");
    EXPECT_TRUE(scene.cache.purge(scene.cache.key("fa")));
    EXPECT_EQ(scene.cache.memory().stats().objects, 0u);
}

TEST_F(Restorations, leave_out_what_is_of_no_use) {
    auto const later = wall_now() - seconds(10'000);
    former.store("fstale", {.lifetime = 10, .request = at(later)});
    former.store("fa");
    auto const gone = former.object("fgone", {.lifetime = 10, .request = at(later)});
    auto parts = gone->parts();
    parts.terms.has_validator = false;
    {
        auto lead = former.cache.lease(former.cache.key("fgone"), nullptr);
        lead.complete(former.cache.memory().make_object(parts, former.cache.key("fgone").fingerprint), {}, {});
    }
    restore_all();
    EXPECT_EQ(restoration->figures().added, 2u) << "a stale object with a validator costs a 304";
    EXPECT_EQ(restoration->figures().useless, 1u);
}

TEST_F(Restorations, evict_nothing_and_prefer_the_most_valuable) {
    Scene small(options(256 * KiB));
    std::string const body(4'000, 'x');
    small.store("fown", {.body = body});
    Restoration into_small(small.cache);
    for (int i = 0; i < 200; ++i) former.store("f" + std::to_string(i), {.body = body});
    restore(into_small, stream_of(former.cache.memory()));
    EXPECT_TRUE(into_small.is_full());
    EXPECT_EQ(small.cache.memory().stats().evictions, 0u);
    EXPECT_EQ(small.stored("fown"), body);
    EXPECT_EQ(small.stored("f199"), body) << "the most recently used";
    EXPECT_EQ(small.peek("f0").kind, Lookup::Kind::absent);
    EXPECT_GT(into_small.figures().added, 20u);
}

TEST_F(Restorations, survive_records_that_make_no_sense) {
    former.store("fa", {.body = std::string_view("body")});
    store::disk::Record record;
    record.head.kind = store::disk::RecordKind::piece;
    record.body = "a piece without its object";
    restoration->take(record);
    record.head.kind = store::disk::RecordKind::object;
    record.key = "fb";
    record.meta = "no meta";
    restoration->take(record);
    record.head.kind = store::disk::RecordKind::tombstone;
    restoration->take(record);
    restore_all();
    EXPECT_EQ(restoration->figures().added, 1u);
}

TEST(ValueWalk, leaves_out_urls_that_are_being_fetched) {
    Scene scene(options());
    scene.store("fa");
    scene.store("fb");
    auto const running = scene.cache.lease(scene.cache.key("fa"), nullptr);
    std::vector<ValueWalk::Walked> found;
    ValueWalk walk(scene.cache.memory());
    while (walk.next(found)) {
    }
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found.front().object->key(), "fb");
}

TEST(ValueWalk, leaves_out_objects_that_were_invalidated) {
    Scene scene(options());
    scene.store("fhttp://a.example/x");
    scene.store("fhttp://b.example/x");
    scene.store("fhttp://c.example/x");
    scene.cache.invalidate(*prefix_invalidation("http://a.example/", false));
    scene.cache.invalidate(*prefix_invalidation("http://b.example/", true));
    std::vector<ValueWalk::Walked> found;
    ValueWalk walk(scene.cache.memory());
    while (walk.next(found)) {
    }
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found.front().object->key(), "fhttp://c.example/x");
}

TEST(ValueWalk, by_address_finds_the_others_with_their_ranks) {
    Scene scene(options());
    std::vector<std::string> urls;
    for (int i = 0; i < 200; ++i) scene.store(urls.emplace_back("f" + std::to_string(i)));
    std::vector<ValueWalk::Walked> found;
    ValueWalk walk(scene.cache.memory());
    ASSERT_TRUE(walk.next(found));
    auto const first = found.size();
    EXPECT_EQ(first, 64u);
    EXPECT_EQ(found.front().object->key(), "f199");
    walk.go_by_address();
    while (walk.next(found)) {
    }
    ASSERT_EQ(found.size(), 200u);
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i].rank.has_value(), i >= first);
    for (std::size_t i = first + 1; i < found.size(); ++i)
        EXPECT_TRUE(std::less<>{}(found[i - 1].object.get(), found[i].object.get()));
    std::ranges::stable_sort(found, {}, [](auto const& one) { return one.rank.value_or(0); });
    std::ranges::reverse(urls);
    std::vector<std::string> keys;
    for (auto const& one : found) keys.emplace_back(one.object->key());
    EXPECT_EQ(keys, urls) << "the most valuable first";
}

TEST(ValueWalk, drops_only_what_is_still_there) {
    Scene scene(options());
    scene.store("fa");
    scene.store("fb");
    std::vector<ValueWalk::Walked> found;
    ValueWalk walk(scene.cache.memory());
    while (walk.next(found)) {
    }
    scene.store("fb", {.body = "newer"});
    for (auto const& one : found) walk.drop(*one.object);
    EXPECT_EQ(scene.peek("fa").kind, Lookup::Kind::absent);
    EXPECT_EQ(scene.stored("fb"), "newer");
    found.clear();
    EXPECT_EQ(scene.cache.memory().stats().objects, 1u);
}

TEST(TouchedUrls, are_limited) {
    TouchedUrls touched;
    EXPECT_FALSE(touched.may_restore(1));
    touched.begin();
    EXPECT_TRUE(touched.may_restore(1));
    touched.add(1);
    EXPECT_FALSE(touched.may_restore(1));
    EXPECT_TRUE(touched.may_restore(2));
    for (Fingerprint url = 10; url < 10 + TouchedUrls::most; ++url) touched.add(url);
    EXPECT_FALSE(touched.may_restore(2)) << "there are too many to be remembered";
}

}   // namespace
}   // namespace garner::cache
