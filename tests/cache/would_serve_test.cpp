// Lookups for other caches: the response that a plain GET would get, if it stays fresh for a given time.
#include "cache/parts.hpp"
#include "scene.hpp"

namespace garner::cache {
namespace {

constexpr std::string_view url = "fhttp://h/";
constexpr milliseconds margin{30'000};

bool would_serve(Scene& scene, milliseconds later = milliseconds{0}) {
    return scene.cache.would_serve(scene.cache.key(url), wall_now() + later, margin);
}

Answer lasting(std::uint32_t lifetime) {
    Answer answer;
    answer.lifetime = lifetime;
    return answer;
}

void store(Scene& scene, void (*change)(store::Object::Parts&)) {
    store::Object::Parts parts;
    parts.key = url;
    parts.head = "HTTP/1.1 200 OK\r\n";
    parts.bytes = "body";
    parts.terms = Scene::terms(1'000);
    parts.sequence = scene.next();
    change(parts);
    auto lead = scene.cache.lease(scene.cache.key(url), nullptr);
    lead.complete(scene.cache.memory().make_object(parts, scene.cache.key(url).fingerprint), {}, {});
}

TEST(WouldServe, what_stays_fresh_for_the_margin) {
    Scene scene;
    EXPECT_FALSE(would_serve(scene));
    scene.store(url, lasting(100));
    EXPECT_TRUE(would_serve(scene));
    EXPECT_TRUE(would_serve(scene, seconds{69}));
    EXPECT_FALSE(would_serve(scene, seconds{72}));
    EXPECT_FALSE(would_serve(scene, seconds{200}));
}

TEST(WouldServe, nothing_that_must_be_validated_or_is_an_error) {
    for (auto change :
         {+[](store::Object::Parts& parts) { parts.terms.no_cache = true; },
          +[](store::Object::Parts& parts) { parts.status = 404; }, +[](store::Object::Parts& parts) { parts.status = 503; }}) {
        Scene scene;
        store(scene, change);
        EXPECT_FALSE(would_serve(scene));
    }
    Scene scene;
    store(scene, [](store::Object::Parts& parts) { parts.status = 301; });
    EXPECT_TRUE(would_serve(scene));
}

TEST(WouldServe, variants_count_only_where_accept_encoding_alone_selects_them) {
    Scene scene;
    scene.store(url, Scene::varying("packed", "accept-encoding", "gzip"));
    EXPECT_TRUE(would_serve(scene));
    EXPECT_FALSE(would_serve(scene, seconds{999}));
    Scene other;
    other.store(url, Scene::varying("deutsch", "accept-language", "de"));
    EXPECT_FALSE(would_serve(other));
    Scene both;
    both.store(url, Scene::varying("both", "accept-encoding, accept-language", "gzip"));
    EXPECT_FALSE(would_serve(both));
}

TEST(WouldServe, asking_does_not_keep_it) {
    Options options;
    options.size = 64 * KiB;
    options.shards = 1;
    options.policy = "lru";
    Scene scene(options);
    scene.store(url);
    std::string const body(8 * KiB, 'x');
    for (int i = 0; i < 20; ++i) {
        Answer big;
        big.body = body;
        scene.store("fhttp://h/" + std::to_string(i), big);
        would_serve(scene);
    }
    EXPECT_FALSE(would_serve(scene));
}

TEST(WouldServe, a_purged_one_is_gone) {
    Scene scene;
    scene.store(url);
    scene.cache.purge(scene.cache.key(url));
    EXPECT_FALSE(would_serve(scene));
}

}   // namespace
}   // namespace garner::cache
