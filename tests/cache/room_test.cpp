// Memory budget: it is never exceeded, the right objects are evicted, and all memory is returned.
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "cache/cache.hpp"
#include "cache/scene.hpp"
#include "store/body_source.hpp"

namespace garner::cache {
namespace {

using Kind = Lookup::Kind;

/// Receives and stores a body of this size; false if memory was refused.
bool receive(Scene& scene, std::string_view url, Bytes size, bool known_length) {
    auto lead = scene.cache.lease(scene.cache.key(url), nullptr);
    auto near = lead.fill()->primary();
    auto body = scene.cache.memory().make_body(known_length ? std::optional<Bytes>(size) : std::nullopt);
    while (body->size() < size) {
        auto room = scene.cache.memory().room(*body, near);
        if (room.empty()) {
            body->finish(store::Body::State::failed);
            return false;
        }
        body->grow(std::min<Bytes>(room.size(), size - body->size()));
    }
    body->finish(store::Body::State::complete);
    store::Object::Parts parts;
    parts.key = url;
    parts.head = "HTTP/1.1 200 OK\r\n";
    parts.body = body;
    parts.terms = Scene::terms(1'000);
    parts.sequence = scene.next();
    auto object = scene.cache.memory().make_object(parts, near);
    lead.complete(object, {}, {});
    return object != nullptr;
}

void expect_empty(Cache const& cache) {
    auto stats = cache.memory().stats();
    EXPECT_EQ(stats.used, stats.metadata);
    EXPECT_EQ(stats.cached, 0u);
    EXPECT_EQ(stats.filling, 0u);
    EXPECT_EQ(stats.objects, 0u);
    EXPECT_EQ(stats.fills, 0u);
}

TEST(Room, all_figures_return_to_zero_when_everything_is_purged) {
    Scene scene({.size = 8 * MiB, .object_max = MiB});
    for (int i = 0; i < 200; ++i) scene.store("small" + std::to_string(i));
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(receive(scene, "large" + std::to_string(i), 300'000, i % 2 == 0));
    for (int i = 0; i < 10; ++i) scene.store("varies", Scene::varying("text", "accept", std::to_string(i)));
    auto stats = scene.cache.memory().stats();
    EXPECT_EQ(stats.objects, 200u + 5 + 11);
    EXPECT_EQ(stats.used, stats.cached + stats.metadata);
    for (int i = 0; i < 200; ++i) EXPECT_TRUE(scene.cache.purge(scene.cache.key("small" + std::to_string(i))));
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(scene.cache.purge(scene.cache.key("large" + std::to_string(i))));
    EXPECT_TRUE(scene.cache.purge(scene.cache.key("varies")));
    expect_empty(scene.cache);
}

TEST(Room, what_a_reader_still_holds_stays_counted) {
    Scene scene({.size = 8 * MiB, .object_max = MiB});
    EXPECT_TRUE(receive(scene, "u", 300'000, true));
    auto held = scene.lookup("u").object;
    scene.cache.purge(scene.cache.key("u"));
    EXPECT_GE(scene.cache.memory().stats().used, 300'000u);
    EXPECT_EQ(scene.cache.memory().stats().cached, 0u);
    held = nullptr;
    expect_empty(scene.cache);
}

TEST(Room, an_object_of_object_max_is_kept_when_memory_is_twice_that) {
    for (auto policy : {"lru", "gdsf"})
        for (bool known : {true, false}) {
            Scene scene({.size = 8 * MiB, .policy = policy, .object_max = 4 * MiB});
            for (int i = 0; i < 2'000; ++i) scene.store("s" + std::to_string(i), {.body = std::string(4'000, 'x')});
            ASSERT_GT(scene.cache.memory().stats().used, 7 * MiB);
            EXPECT_TRUE(receive(scene, "large", 4 * MiB, known));
            EXPECT_EQ(scene.kind("large"), Kind::fresh) << policy;
            EXPECT_LE(scene.cache.memory().stats().used, 8 * MiB);
        }
}

TEST(Room, growing_bodies_together_keep_to_their_share) {
    Scene scene({.size = 8 * MiB, .object_max = MiB, .fill_share = 0.25});
    std::vector<store::BodyPtr> bodies;
    Bytes got = 0;
    for (int i = 0; i < 20; ++i) {
        bodies.push_back(scene.cache.memory().make_body(256 * KiB));
        got += scene.cache.memory().room(*bodies.back(), 0).size();
    }
    EXPECT_EQ(got, 2 * MiB);
    EXPECT_EQ(scene.cache.memory().stats().filling, 2 * MiB);
    EXPECT_EQ(scene.used(), 2 * MiB);
    EXPECT_GT(scene.cache.memory().stats().refused_for_room, 0u);
    bodies.clear();
    expect_empty(scene.cache);
}

TEST(Room, what_cannot_fit_evicts_nobody) {
    Scene scene({.size = MiB, .object_max = 512 * KiB});
    for (int i = 0; i < 100; ++i) scene.store("s" + std::to_string(i));
    EXPECT_FALSE(scene.cache.memory().reserve(MiB + 1, 0));
    EXPECT_FALSE(scene.cache.memory().reserve(UINT64_MAX, 0));
    EXPECT_EQ(scene.cache.memory().stats().evictions, 0u);
}

TEST(Room, pinned_objects_do_not_make_a_newcomer_empty_the_cache) {
    Scene scene({.size = 4 * MiB, .policy = "lru", .object_max = MiB, .shards = 1});
    std::vector<store::ObjectPtr> held;
    std::string bytes(4'000, 'x');
    for (int i = 0; i < 1'000; ++i) {
        scene.store("s" + std::to_string(i), {.body = bytes});
        if (auto object = scene.lookup("s" + std::to_string(i)).object) held.push_back(object);
    }
    auto before = scene.cache.memory().stats().objects;
    EXPECT_FALSE(scene.cache.memory().reserve(64 * KiB, 0));
    EXPECT_GT(scene.cache.memory().stats().objects, before / 2) << "further evictions would free nothing";
}

/// A key of this shard.
std::string key_in(Cache const& cache, unsigned shard, unsigned shards, int number) {
    for (int i = 0;; ++i) {
        auto text = std::to_string(number) + "/" + std::to_string(i);
        if ((cache.key(text).fingerprint >> 52) % shards == shard) return text;
    }
}

TEST(Room, a_shard_above_its_share_shrinks_itself_and_spares_the_others) {
    Scene scene({.size = 2 * MiB, .policy = "lru", .object_max = MiB, .shards = 4});
    std::string bytes(8'000, 'x');
    auto others = key_in(scene.cache, 1, 4, 0);
    scene.store(others, {.body = bytes});
    for (int i = 0; i < 500; ++i) scene.store(key_in(scene.cache, 0, 4, i), {.body = bytes});
    EXPECT_GT(scene.cache.memory().stats().evictions, 200u);
    EXPECT_EQ(scene.kind(others), Kind::fresh);
}

TEST(Room, a_shard_below_its_share_takes_from_the_fullest) {
    Scene scene({.size = 2 * MiB, .policy = "lru", .object_max = MiB, .shards = 4});
    std::string bytes(8'000, 'x');
    for (int i = 0; i < 240; ++i) scene.store(key_in(scene.cache, 0, 4, i), {.body = bytes});
    std::vector<std::string> newcomers;
    for (int i = 0; i < 40; ++i) {
        newcomers.push_back(key_in(scene.cache, 1, 4, i));
        scene.store(newcomers.back(), {.body = bytes});
    }
    EXPECT_GT(scene.cache.memory().stats().evictions, 0u);
    for (auto const& key : newcomers) EXPECT_EQ(scene.kind(key), Kind::fresh);
}

TEST(Room, a_smaller_size_evicts_and_a_new_policy_keeps_what_is_there) {
    Options options{.size = 4 * MiB, .policy = "lru", .object_max = MiB};
    Scene scene(options);
    std::string bytes(4'000, 'x');
    for (int i = 0; i < 500; ++i) scene.store("s" + std::to_string(i), {.body = bytes});
    EXPECT_EQ(scene.cache.memory().stats().objects, 500u);
    options.policy = "gdsf";
    scene.cache.memory().reconfigure(options);
    EXPECT_EQ(scene.cache.memory().stats().objects, 500u);
    EXPECT_EQ(scene.cache.memory().stats().evictions, 0u);
    options.size = MiB;
    options.object_max = 256 * KiB;
    scene.cache.memory().reconfigure(options);
    auto stats = scene.cache.memory().stats();
    EXPECT_LE(stats.used, MiB);
    EXPECT_GT(stats.used, MiB - 10'000) << "only as much as necessary was evicted";
    EXPECT_EQ(stats.capacity, MiB);
    EXPECT_EQ(scene.cache.memory().object_max(), 256 * KiB);
    int hits = 0;
    for (int i = 0; i < 500; ++i) hits += scene.stored("s" + std::to_string(i)) == bytes;
    EXPECT_EQ(static_cast<std::uint64_t>(hits), stats.objects);
}

// Threads of every kind at once; also run it under TSan.
TEST(Room, the_budget_holds_under_random_load_from_many_threads) {
    constexpr Bytes size = 4 * MiB;
    Scene scene({.size = size, .object_max = MiB, .shards = 8});
    std::atomic<bool> over{false};
    auto url = [](std::mt19937& random) { return "u" + std::to_string(random() % 300); };
    auto load = [&](unsigned seed) {
        std::mt19937 random(seed);
        std::vector<store::ObjectPtr> readers;
        while (!over) {
            auto which = url(random);
            switch (random() % 8) {
            case 0: scene.cache.purge(scene.cache.key(which)); break;
            case 1: receive(scene, which, 64 * KiB + random() % (600 * KiB), random() % 2); break;
            case 2: scene.store(which, {.body = std::string(random() % 60'000, 'x')}); break;
            case 3: scene.store(which, Scene::varying("text", "accept", std::to_string(random() % 80))); break;
            default: {
                auto ask = at(wall_now() + seconds{random() % 2'000});
                auto found = scene.lookup(which, ask);
                if (found.object) {
                    ASSERT_EQ(found.object->key().substr(0, which.size()), which);
                    readers.push_back(found.object);
                }
                if (found.lead && random() % 2) scene.complete(found.lead, which, {.body = "led"});
                if (found.follow) Follower(found.follow).wake_on_change(0, {});
            }
            }
            if (readers.size() > 4) readers.erase(readers.begin());
            ASSERT_LE(scene.cache.memory().budget().used(), size);
            ASSERT_LE(scene.cache.memory().budget().filling(), std::max(size / 4, MiB));
        }
    };
    std::vector<std::jthread> threads;
    for (unsigned seed = 1; seed <= 4; ++seed) threads.emplace_back(load, seed);
    Options other{.size = size, .policy = "lru", .object_max = MiB, .shards = 8};
    for (int i = 0; i < 20; ++i) {
        std::this_thread::sleep_for(milliseconds{100});
        other.policy = i % 2 ? "gdsf" : "lru";
        scene.cache.memory().reconfigure(other);
        EXPECT_LE(scene.cache.memory().stats().used, size);
    }
    over = true;
    threads.clear();
    // Shards are read one after another: their sum is consistent only if no thread stores.
    EXPECT_LE(scene.cache.memory().stats().cached, size);
    EXPECT_GT(scene.cache.memory().stats().evictions, 100u);
    for (int i = 0; i < 300; ++i) scene.cache.purge(scene.cache.key("u" + std::to_string(i)));
    expect_empty(scene.cache);
}

/// A source that accepts all bytes.
struct Taker final : store::BodySource {
    net::awaitable<store::Loaded> load(Bytes, net::Executor) override { co_return store::Loaded{}; }
    Bytes piece() const override { return 64 * KiB; }
    Bytes until() const override { return 0; }
    bool is_whole() const override { return true; }
};

TEST(Room, bodies_that_something_else_takes_leave_half_of_the_share_to_those_that_begin) {
    Scene scene({.size = 8 * MiB, .object_max = MiB, .fill_share = 0.25});
    std::vector<store::BodyPtr> bodies;
    auto const begin = [&] {
        bodies.push_back(scene.cache.memory().make_body(MiB));
        bodies.back()->set_source(std::make_shared<Taker>());
        return bodies.back().get();
    };
    auto const fill = [&](store::Body& body) {
        auto const room = scene.cache.memory().room(body, 0);
        body.grow(room.size());
        return room.size();
    };
    auto* first = begin();
    while (fill(*first) > 0) {
    }
    EXPECT_EQ(first->size(), MiB);   // a single fill may use as much as it needs
    auto* second = begin();
    EXPECT_EQ(fill(*second), 64 * KiB);
    EXPECT_EQ(fill(*second), 0u);   // limited to the minimum window
    for (int i = 0; i < 15; ++i) EXPECT_EQ(fill(*begin()), 64 * KiB) << i;
    EXPECT_EQ(scene.cache.memory().stats().filling, 2 * MiB);
    EXPECT_EQ(fill(*begin()), 0u);
}

}   // namespace
}   // namespace garner::cache
