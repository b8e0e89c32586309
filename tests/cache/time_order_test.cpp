// Fetch order decides races: an older response never replaces a newer one, and a purge ends earlier fetches.
#include <gtest/gtest.h>

#include <algorithm>

#include "cache/scene.hpp"

namespace garner::cache {
namespace {

using Kind = Lookup::Kind;

/// The object that `lead` validates after a 304: fresh again, and as new as the request.
store::ObjectPtr freshened(Scene& scene, std::string_view url, FillLease const& lead) {
    auto const& old = lead.fill()->stale();
    store::Object::Parts parts;
    parts.key = url;
    parts.head = "HTTP/1.1 200 OK\r\n";
    parts.bytes = old->bytes();
    parts.terms = Scene::terms(1'000);
    parts.sequence = std::max(old->sequence(), lead.fill()->asked());
    return scene.cache.memory().make_object(parts, scene.cache.key(url).fingerprint);
}

Answer expired(std::string_view body) {
    Answer answer;
    answer.body = body;
    answer.lifetime = 0;
    return answer;
}

Answer plain(std::string_view body) {
    Answer answer;
    answer.body = body;
    return answer;
}

TEST(TimeOrder, a_304_that_comes_after_a_newer_response_does_not_take_its_place) {
    Scene scene;
    scene.store("u", expired("old"));
    auto old = scene.lookup("u").object;
    auto late = scene.cache.lease(scene.cache.key("u"), old);
    scene.store("u", plain("new"));
    late.complete(freshened(scene, "u", late), {}, {});
    EXPECT_EQ(scene.stored("u"), "new");
}

TEST(TimeOrder, nor_while_readers_have_bytes_of_the_newer_one) {
    Scene scene;
    scene.store("u", expired("old"));
    auto leading = scene.lookup("u");
    ASSERT_EQ(leading.kind, Kind::stale);
    auto late = scene.cache.lease(scene.cache.key("u"), leading.object);
    auto newer = scene.object("u", plain("new"));
    leading.lead.head_is_storable(newer, {}, {});
    late.complete(freshened(scene, "u", late), {}, {});
    EXPECT_EQ(scene.kind("u"), Kind::busy) << "both fetches were under way at a time, so their order is unknown";
    leading.lead.complete(newer, {}, {});
    EXPECT_EQ(scene.stored("u"), "new");
}

TEST(TimeOrder, a_304_about_what_is_still_there_makes_it_fresh) {
    Scene scene;
    scene.store("u", expired("old"));
    auto found = scene.lookup("u");
    found.lead.complete(freshened(scene, "u", found.lead), {}, {});
    EXPECT_EQ(scene.stored("u"), "old");
}

TEST(TimeOrder, a_304_whose_request_followed_another_response_supersedes_it) {
    Scene scene;
    scene.store("u", expired("old"));
    auto leading = scene.lookup("u");
    auto const other = scene.object("u", plain("other"));
    leading.lead.head_is_storable(other, {}, {});
    auto later = scene.cache.lease(scene.cache.key("u"), leading.object);
    later.complete(freshened(scene, "u", later), {}, {});
    EXPECT_EQ(scene.stored("u"), "old") << "the origin had it again";
    leading.lead.complete(other, {}, {});
    EXPECT_EQ(scene.stored("u"), "old");
}

TEST(TimeOrder, a_failure_of_before_the_purge_is_not_remembered_after_it) {
    Scene scene;
    auto key = scene.cache.key("u");
    auto before = scene.lookup("u");
    scene.cache.purge(key);
    auto after = scene.lookup("u");
    FetchFailure failure{502, "trouble"};
    before.lead.fill()->remember_failure(failure, false, {}, {});
    EXPECT_FALSE(scene.cache.memory().failures().find(key, steady_now()));
    after.lead.fill()->remember_failure(failure, false, {}, {});
    EXPECT_TRUE(scene.cache.memory().failures().find(key, steady_now()));
}

TEST(TimeOrder, where_the_URL_varies_only_those_of_one_variant_wait_for_one_another) {
    Scene scene;
    scene.store("u", Scene::varying("first", "cookie", "0"));
    auto one = scene.lookup("u", with("cookie", "1"));
    EXPECT_EQ(one.kind, Kind::absent);
    EXPECT_EQ(scene.kind("u", with("cookie", "1")), Kind::busy);
    auto other = scene.lookup("u", with("cookie", "2"));
    EXPECT_EQ(other.kind, Kind::absent);
    EXPECT_TRUE(other.lead.fill()->leads_others());
    EXPECT_EQ(scene.cache.memory().stats().fills, 2u);
}

TEST(TimeOrder, a_hundred_thousand_variants_of_one_URL_are_at_most_64) {
    Scene scene;
    for (int i = 0; i < 100'000; ++i) {
        auto value = std::to_string(i);
        scene.store("u", Scene::varying("body", "cookie", value));
        if (i % 1'000 == 0) ASSERT_LE(scene.cache.memory().stats().objects, 65u);   // 64 variants and their marker
    }
    EXPECT_EQ(scene.stored("u", with("cookie", "99999")), "body");
    EXPECT_EQ(scene.stored("u", with("cookie", "1")), "-");
    scene.cache.purge(scene.cache.key("u"));
    EXPECT_EQ(scene.used(), 0u);
}

}   // namespace
}   // namespace garner::cache
