// Selects objects for the own digest, and checks that a scan reaches every object.
#include "icp/digest_scan.hpp"

#include <gtest/gtest.h>

#include <set>

#include "cache/key.hpp"
#include "cache/parts.hpp"
#include "cache/scene.hpp"
#include "support/made.hpp"

namespace garner::icp {
namespace {

using namespace std::literals;
using cache::Answer;
using cache::Scene;

std::string key_of(std::string_view url, cache::Partition partition = cache::Partition::forward) {
    std::string text;
    cache::write_key_text(partition, url, text);
    return text;
}

std::shared_ptr<Digest const> digest_of(Scene& scene, milliseconds life = 100s) {
    DigestScan scan(scene.cache, wall_now() + life);
    while (scan.step()) {
    }
    auto const entries = scan.entries();
    auto digest = test::made(Digest::read(std::move(scan).finish().all));
    EXPECT_EQ(digest->entries(), entries);
    return digest;
}

TEST(DigestScan, finds_all_that_is_stored) {
    Scene scene({.size = 64 * MiB});
    constexpr int count = 5'000;
    auto const url = [](int i) { return "http://example.com/" + std::to_string(i); };
    for (int i = 0; i < count; ++i) scene.store(key_of(url(i)));
    auto const digest = digest_of(scene);
    EXPECT_EQ(digest->entries(), std::uint64_t{count});
    for (int i = 0; i < count; ++i) EXPECT_TRUE(digest->may_have(digest_key(url(i))));
    int strangers = 0;
    for (int i = count; i < 2 * count; ++i) strangers += digest->may_have(digest_key(url(i)));
    EXPECT_LT(strangers, count / 8);
}

TEST(DigestScan, leaves_out_what_goes_stale_before_the_next_one) {
    Scene scene;
    Answer short_lived;
    short_lived.lifetime = 60;
    scene.store(key_of("http://a/short"), short_lived);
    scene.store(key_of("http://a/long"));
    auto const digest = digest_of(scene, 100s);
    EXPECT_EQ(digest->entries(), 1u);
    EXPECT_TRUE(digest->may_have(digest_key("http://a/long")));
    EXPECT_FALSE(digest->may_have(digest_key("http://a/short")));
    EXPECT_TRUE(digest_of(scene, 10s)->may_have(digest_key("http://a/short")));
}

TEST(DigestScan, leaves_out_an_accelerators_objects) {
    Scene scene;
    scene.store(key_of("http://a/", cache::Partition::accelerator));
    EXPECT_EQ(digest_of(scene)->entries(), 0u);
}

TEST(DigestScan, builds_one_digest_without_https_URLs) {
    Scene scene;
    scene.store(key_of("http://a/open"));
    scene.store(key_of("https://a/secret"));
    DigestScan scan(scene.cache, wall_now() + 100s);
    while (scan.step()) {
    }
    auto digests = std::move(scan).finish();
    auto const all = test::made(Digest::read(std::move(digests.all)));
    auto const open = test::made(Digest::read(std::move(digests.without_https)));
    EXPECT_EQ(all->entries(), 2u);
    EXPECT_TRUE(all->may_have(digest_key("https://a/secret")));
    EXPECT_EQ(open->entries(), 1u);
    EXPECT_TRUE(open->may_have(digest_key("http://a/open")));
    EXPECT_FALSE(open->may_have(digest_key("https://a/secret")));
}

TEST(DigestScan, takes_variants_by_accept_encoding_alone) {
    Scene scene;
    scene.store(key_of("http://a/packed"), Scene::varying("x", "Accept-Encoding", "gzip, br"));
    scene.store(key_of("http://a/plain"), {.vary = "Accept-Encoding"});
    scene.store(key_of("http://a/tongue"), Scene::varying("x", "Accept-Language", "de"));
    scene.store(key_of("http://a/both"), Scene::varying("x", "Accept-Encoding, Accept-Language", "de"));
    auto const digest = digest_of(scene);
    EXPECT_EQ(digest->entries(), 2u);
    EXPECT_TRUE(digest->may_have(digest_key("http://a/packed")));
    EXPECT_TRUE(digest->may_have(digest_key("http://a/plain")));
}

store::ObjectPtr object(std::string const& key, std::uint16_t status, bool negative) {
    store::Object::Parts parts;
    parts.key = key;
    parts.status = status;
    parts.terms = Scene::terms(1'000);
    parts.terms.negative = negative;
    return store::Object::make(parts, nullptr);
}

TEST(DigestScan, leaves_out_errors_and_parts) {
    auto const soon = wall_now() + 10s;
    auto const key = key_of("http://a/");
    EXPECT_EQ(digested_url(*object(key, 200, false), soon), "http://a/");
    EXPECT_EQ(digested_url(*object(key, 301, false), soon), "http://a/");
    EXPECT_FALSE(digested_url(*object(key, 404, false), soon));
    EXPECT_FALSE(digested_url(*object(key, 302, true), soon));
    EXPECT_FALSE(digested_url(*object(cache::parts_text(key), 200, false), soon));
}

TEST(Walk, meets_all_that_stays_whatever_comes_and_leaves) {
    Scene scene({.size = 64 * MiB, .shards = 4});
    for (int i = 0; i < 2'000; ++i) scene.store(key_of("http://stays/" + std::to_string(i)));
    std::set<std::string> met;
    cache::MemoryTier::Walk walk;
    std::vector<store::ObjectPtr> objects;
    std::size_t steps = 0;
    for (bool more = true; more; ++steps) {
        more = scene.cache.memory().walk(walk, objects);
        EXPECT_LE(objects.size(), cache::MemoryTier::walk_step);
        for (auto const& object : objects) met.emplace(object->key());
        objects.clear();
        scene.store(key_of("http://comes/" + std::to_string(steps)));
        ASSERT_LT(steps, 1'000u);
    }
    for (int i = 0; i < 2'000; ++i) EXPECT_TRUE(met.contains(key_of("http://stays/" + std::to_string(i))));
    EXPECT_FALSE(scene.cache.memory().walk(walk, objects));
    EXPECT_TRUE(objects.empty());
}

TEST(Walk, ends_over_nothing) {
    Scene scene;
    cache::MemoryTier::Walk walk;
    std::vector<store::ObjectPtr> objects;
    std::size_t steps = 1;
    while (scene.cache.memory().walk(walk, objects)) ++steps;
    EXPECT_TRUE(objects.empty());
    EXPECT_LE(steps, 64u);
}

}   // namespace
}   // namespace garner::icp
