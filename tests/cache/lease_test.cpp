// What a cache of a group finds with and without a lease, against the rules of group/gate that the simulator has tested.
#include "cache/lease.hpp"

#include <gtest/gtest.h>
#include <time.h>

#include <functional>

#include "cache/scene.hpp"
#include "group/gate.hpp"

namespace garner::cache {
namespace of_leases {   // other tests have the same names
namespace {

constexpr std::string_view key = "fhttp://a.example/x/page";
constexpr std::string_view url = "http://a.example/x/page";
constexpr group::Times times{.lease = seconds(60)};

struct InGroup : ::testing::Test, Scene {
    InGroup() { lease().begin(times.held(), times.spread()); }
    Lease& lease() { return cache.invalidations.lease; }
    void renew() { lease().renew(boot_now() + seconds(30)); }
    void cut_off() { lease().renew(boot_now() - seconds(1)); }
    store::ObjectPtr keep() {
        store::Object::Parts parts;
        parts.key = key;
        parts.head = "HTTP/1.1 200 OK\r\n";
        parts.bytes = "body";
        parts.terms = terms(1'000);
        parts.terms.stale_limit = 5'000;   // from the soft invalidation on
        parts.sequence = next();
        return cache.memory().make_object(parts, cache.key(key).fingerprint);
    }
    bool may_serve_on_error(store::Object const& object) {
        return cache.invalidations.may_serve_stale_on_error(object, {}, wall_now() + seconds(1'001),
                                                            http::StaleOnErrorKind::unreachable);
    }
    bool passes() { return cache.invalidations.must_pass_caches(url); }
};

}   // namespace

TEST(LeaseTest, a_cache_in_no_group_is_current_for_ever) {
    Lease const lease;
    EXPECT_TRUE(lease.is_current());
    EXPECT_FALSE(lease.is_in_group());
}

TEST(LeaseTest, ends_by_itself_and_vouches_for_what_has_passed_caches) {
    Lease lease;
    lease.begin(seconds(2), seconds(4));
    EXPECT_FALSE(lease.is_current());
    lease.renew(boot_now() + seconds(5));
    EXPECT_TRUE(lease.is_current());
    lease.renew(boot_now() - milliseconds(1));
    EXPECT_FALSE(lease.is_current());
    lease.set_ignored(true);
    EXPECT_TRUE(lease.is_current());

    auto const now = seconds(1'000);
    EXPECT_FALSE(lease.vouches_for(0, now));
    EXPECT_TRUE(lease.vouches_for(Lease::step_of(now), now));
    EXPECT_TRUE(lease.vouches_for(Lease::step_of(now - milliseconds(1'900)), now));
    EXPECT_FALSE(lease.vouches_for(Lease::step_of(now - milliseconds(2'101)), now));
    EXPECT_LE(Lease::step_of(now + milliseconds(199)) * milliseconds(100), now + milliseconds(199)) << "it is rounded down";
}

/// All states of a stored response, with and without a lease.
TEST_F(InGroup, uses_a_response_as_the_rules_of_the_group_have_it) {
    using group::Outdated;
    for (auto const outdated : {Outdated::no, Outdated::soft, Outdated::watermark, Outdated::hard})
        for (bool const has_passed : {false, true})
            for (bool const is_current : {true, false}) {
                Scene scene;
                auto& own = scene.cache.invalidations.lease;
                own.begin(times.held(), times.spread());
                store::Object::Parts parts;
                parts.key = key;
                parts.head = "HTTP/1.1 200 OK\r\n";
                parts.bytes = "body";
                parts.terms = terms(1'000);
                if (has_passed) parts.terms.passed = Lease::step_of(boot_now());
                parts.sequence = scene.next();
                own.renew(Lease::Time::max());
                auto lead = scene.cache.lease(scene.cache.key(key), nullptr);
                lead.complete(scene.cache.memory().make_object(parts, scene.cache.key(key).fingerprint), {}, {});
                if (outdated == Outdated::watermark) scene.cache.invalidations.raise_watermark(wall_now());
                if (outdated == Outdated::soft) scene.cache.invalidate(*url_invalidation(url, true));
                if (outdated == Outdated::hard) scene.cache.invalidate(*url_invalidation(url, false));
                if (!is_current) own.renew(boot_now() - seconds(1));
                auto const now = boot_now();
                group::Held const held{.outdated = outdated, .is_fresh = true, .passed = has_passed ? now : group::never};
                auto const wanted = group::use_of(held, is_current, times, now);
                auto const found = scene.kind(key);
                auto const expected = wanted == group::Use::serve      ? Lookup::Kind::fresh
                                      : wanted == group::Use::validate ? Lookup::Kind::stale
                                                                       : Lookup::Kind::absent;
                EXPECT_EQ(found, expected) << int(outdated) << has_passed << is_current;
            }
}

TEST_F(InGroup, serves_nothing_stale_on_an_error_below_the_watermark_or_without_a_lease) {
    auto const object = keep();
    renew();
    EXPECT_TRUE(may_serve_on_error(*object));
    cache.invalidate(*url_invalidation(url, true));
    EXPECT_TRUE(may_serve_on_error(*object)) << "soft";
    EXPECT_FALSE(cache.invalidations.holds_back(*object));
    cut_off();
    EXPECT_FALSE(may_serve_on_error(*object));
    EXPECT_TRUE(cache.invalidations.holds_back(*object));
    renew();
    cache.invalidations.raise_watermark(wall_now());
    EXPECT_FALSE(may_serve_on_error(*object));
    EXPECT_TRUE(cache.invalidations.holds_back(*object));
}

TEST_F(InGroup, says_that_it_held_a_response_back) {
    renew();
    store(key);
    EXPECT_EQ(kind(key), Lookup::Kind::fresh);
    EXPECT_TRUE(cache.would_serve(cache.key(key), wall_now(), {}));
    cut_off();
    auto const found = lookup(key);
    EXPECT_EQ(found.kind, Lookup::Kind::stale);
    EXPECT_EQ(found.answer.reason, http::ReuseReason::held_back);
    EXPECT_FALSE(cache.would_serve(cache.key(key), wall_now(), {}));
    renew();
    EXPECT_EQ(kind(key), Lookup::Kind::fresh);
}

TEST_F(InGroup, what_the_group_does_not_cover_needs_no_lease) {
    InvalidationOptions options;
    options.objects.emplace_back().url_contains = {"/y/"};
    cache.invalidations.configure(options);
    renew();
    store(key);
    cut_off();
    EXPECT_EQ(kind(key), Lookup::Kind::fresh);
    EXPECT_FALSE(passes());
    EXPECT_TRUE(cache.invalidations.must_pass_caches("http://a.example/y/page"));
}

TEST_F(InGroup, cut_off_serve_uses_responses_all_the_same) {
    InvalidationOptions options;
    options.serves_cut_off = true;
    cache.invalidations.configure(options);
    renew();
    store(key);
    cut_off();
    EXPECT_EQ(kind(key), Lookup::Kind::fresh);
}

TEST_F(InGroup, requests_pass_caches_after_a_match_a_watermark_and_without_a_lease) {
    EXPECT_TRUE(passes());
    renew();
    EXPECT_FALSE(passes());
    cache.invalidate(*url_invalidation("http://a.example/other", false));
    cache.invalidate(*prefix_invalidation("http://a.example/y/", false));
    cache.invalidate(*tag_invalidation("t", "http://b.example/", false));
    EXPECT_FALSE(passes()) << "others are concerned";
    struct Case {
        char const* name;
        std::function<void(Cache&)> apply;
    };
    for (auto const& [name, apply] :
         {Case{"url", [](Cache& one) { one.invalidate(*url_invalidation(url, true)); }},
          Case{"prefix", [](Cache& one) { one.invalidate(*prefix_invalidation("http://a.example/x/", false)); }},
          Case{"host", [](Cache& one) { one.invalidate(*prefix_invalidation("http://a.example/", false)); }},
          Case{"tag", [](Cache& one) { one.invalidate(*tag_invalidation("t", "http://a.example/", false)); }},
          Case{"tag of all", [](Cache& one) { one.invalidate(*tag_invalidation("t", "", false)); }},
          Case{"all", [](Cache& one) { one.invalidate(invalidation_of_all(false)); }},
          Case{"watermark", [](Cache& one) { one.invalidations.raise_watermark(wall_now()); }}}) {
        Scene scene;
        auto& own = scene.cache.invalidations.lease;
        own.begin(milliseconds(50), milliseconds(100));
        own.renew(Lease::Time::max());
        EXPECT_FALSE(scene.cache.invalidations.must_pass_caches(url)) << name;
        apply(scene.cache);
        EXPECT_TRUE(scene.cache.invalidations.must_pass_caches(url)) << name;
        for (int i = 0; i < 1'000 && scene.cache.invalidations.must_pass_caches(url); ++i) {
            timespec const pause{0, 1'000'000};
            ::nanosleep(&pause, nullptr);
        }
        EXPECT_FALSE(scene.cache.invalidations.must_pass_caches(url)) << name;
    }
}

TEST_F(InGroup, a_fetch_from_before_the_watermark_is_not_stored) {
    renew();
    auto lead = cache.lease(cache.key(key), nullptr);
    cache.invalidations.raise_watermark(wall_now());
    complete(lead, key);
    EXPECT_EQ(kind(key), Lookup::Kind::absent);
}

TEST_F(InGroup, explain_says_what_is_held_back) {
    renew();
    store(key);
    cache.invalidations.raise_watermark(wall_now());
    auto const below = peek(key);
    EXPECT_EQ(below.kind, Lookup::Kind::stale);
    EXPECT_EQ(below.invalidated, "older than the watermark of the group");
    EXPECT_FALSE(below.removed);
}

}   // namespace of_leases
}   // namespace garner::cache
