// The memory tier under every registered policy: hits, memory use, and a change of policy.
#include "policy/policies.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <map>
#include <random>
#include <thread>
#include <tuple>

#include "cache/scene.hpp"

namespace garner::cache {
namespace {

using Kind = Lookup::Kind;
using policy::Row;

std::string letters_of(std::string_view text) {
    std::string letters(text);
    std::erase_if(letters, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); });
    return letters;
}

auto const every_policy = testing::ValuesIn(policy::all().begin(), policy::all().end());

/// A complete object with a separate body, filled piece by piece; nullptr if memory was refused.
store::ObjectPtr receive(Scene& scene, std::string_view url, std::string const& bytes) {
    auto const near = scene.cache.key(url).fingerprint;
    auto body = scene.cache.memory().make_body(bytes.size());
    while (body->size() < bytes.size()) {
        auto room = scene.cache.memory().room(*body, near);
        if (room.empty()) return body->finish(store::Body::State::failed), nullptr;
        auto const piece = std::min<std::size_t>(room.size(), bytes.size() - body->size());
        std::copy_n(bytes.data() + body->size(), piece, room.data());
        body->grow(piece);
    }
    body->finish(store::Body::State::complete);
    store::Object::Parts parts;
    parts.key = url;
    parts.head = "HTTP/1.1 200 OK\r\n";
    parts.body = body;
    parts.terms = Scene::terms(1'000);
    parts.sequence = scene.next();
    return scene.cache.memory().make_object(parts, near);
}

std::string bytes_of(store::Object const& object) {
    if (!object.body()) return std::string(object.bytes());
    std::string all;
    store::BodyReader reader(object.body());
    std::string_view piece;
    while (reader.next({&piece, 1}, UINT64_MAX) > 0) {
        all += piece;
        reader.advance(piece.size());
    }
    return all;
}

// ---- one policy ----

class EveryPolicy : public testing::TestWithParam<Row> {
protected:
    Options options(Bytes size) const {
        return {.size = size, .policy = std::string(GetParam().name), .object_max = size / 4, .shards = 4, .seed = 7};
    }
};
INSTANTIATE_TEST_SUITE_P(Cache, EveryPolicy, every_policy, [](auto const& row) { return letters_of(row.param.name); });

/// The responses that a cache may serve: the last one stored for each URL until it is purged. A real cache may have evicted it.
class Life {
public:
    Life(Options options, std::uint64_t seed) : scene_(options), options_(options), random_(seed) {}

    void step() {
        auto const url = "/" + std::to_string(random_() % 400);
        switch (random_() % 64) {
        case 0: set_policy(); break;
        case 1: set_size(); break;
        case 2:
        case 3: purge(url); break;
        case 4:
        case 5:
        case 6: store_large(url); break;
        default: look_up(url);
        }
        expect_account();
    }
    void purge_all() {
        growing_.clear();
        for (int i = 0; i < 400; ++i) purge("/" + std::to_string(i));
        EXPECT_EQ(scene_.used(), 0u);
        EXPECT_EQ(scene_.cache.memory().stats().objects, 0u);
    }
    /// The events of the run, for comparison.
    std::string const& told() const { return told_; }
    std::size_t hits() const { return hits_; }

private:
    void look_up(std::string const& url) {
        auto found = scene_.lookup(url);
        if (found.kind == Kind::fresh) {
            ASSERT_TRUE(stored_.contains(url)) << url;
            ASSERT_EQ(bytes_of(*found.object), stored_[url]);
            ++hits_;
            told_ += '+';
        } else {
            ASSERT_EQ(found.kind, Kind::absent);
            auto const body = std::to_string(++answers_) + std::string(random_() % 3'000, 'x');
            store(found.lead, url, scene_.object(url, {.body = body}), body);
        }
    }
    void store_large(std::string const& url) {
        auto const body = std::to_string(++answers_) + std::string(70'000 + random_() % 100'000, 'y');
        auto lead = scene_.cache.lease(scene_.cache.key(url), nullptr);
        store(lead, url, receive(scene_, url, body), body);
        // Fills of other requests take memory meanwhile, and some of them fail.
        growing_.push_back(scene_.cache.memory().make_body(std::nullopt));
        scene_.cache.memory().room(*growing_.back(), scene_.cache.key(url).fingerprint);
        if (growing_.size() > 3) growing_.erase(growing_.begin());
    }
    void store(FillLease& lead, std::string const& url, store::ObjectPtr object, std::string const& body) {
        if (!object) {
            lead.fail({502, "no room"});
            told_ += '0';
            return;
        }
        lead.complete(object, {}, {});
        stored_[url] = body;
        told_ += '.';
    }
    void purge(std::string const& url) {
        scene_.cache.purge(scene_.cache.key(url));
        stored_.erase(url);
        EXPECT_EQ(scene_.peek(url, {.collapse = Collapse::alone}).kind, Kind::absent);
    }
    void set_policy() {
        auto const rows = policy::all();
        options_.policy = rows[random_() % rows.size()].name;
        auto const before = scene_.cache.memory().stats().objects;
        scene_.cache.memory().reconfigure(options_);
        told_ += 'p';
        // A change of policy may evict a few objects, because the new one may need more metadata.
        EXPECT_GE(scene_.cache.memory().stats().objects + 40, before);
    }
    void set_size() {
        options_.size = (1 + random_() % 4) * MiB;
        options_.object_max = options_.size / 4;
        scene_.cache.memory().reconfigure(options_);
        told_ += 's';
    }
    void expect_account() {
        auto const stats = scene_.cache.memory().stats();
        ASSERT_LE(stats.used, stats.capacity);
        ASSERT_EQ(stats.used, stats.cached + stats.metadata + stats.filling);
        ASSERT_EQ(stats.policy, options_.policy);
        told_ += std::to_string(stats.cached) + ' ';
    }

    Scene scene_;
    Options options_;
    std::mt19937_64 random_;
    std::map<std::string, std::string> stored_;
    std::vector<store::BodyPtr> growing_;
    std::string told_;
    std::size_t answers_ = 0;
    std::size_t hits_ = 0;
};

TEST_P(EveryPolicy, serves_what_was_stored_last_within_its_budget) {
    std::string before;
    for (int again = 0; again < 2; ++again) {
        Life life(options(2 * MiB), 1);
        for (int i = 0; i < 4'000 && !HasFatalFailure(); ++i) life.step();
        life.purge_all();
        EXPECT_GT(life.hits(), 400u);
        if (again) {
            EXPECT_TRUE(life.told() == before) << "runs with one seed must be equal";
        }
        before = life.told();
    }
}

TEST_P(EveryPolicy, works_in_the_least_size_and_harms_nothing_in_less) {
    for (Bytes size : {least_size(options(64 * KiB)), 16 * KiB, 4 * KiB, Bytes{0}}) {
        Scene scene(options(size));
        std::size_t hits = 0;
        for (int i = 0; i < 2'000; ++i) {
            auto const url = "/" + std::to_string(i % 16);
            if (scene.stored(url) == "body")
                ++hits;
            else if (auto object = scene.object(url))
                scene.cache.lease(scene.cache.key(url), nullptr).complete(object, {}, {});
            ASSERT_LE(scene.cache.memory().stats().used, size);
        }
        if (size >= 64 * KiB) {
            EXPECT_GT(hits, 1'000u) << size;
        }
    }
}

TEST_P(EveryPolicy, index_and_policy_are_charged_as_they_grow_and_stay_so) {
    Scene scene(options(64 * MiB));
    auto const before = scene.cache.memory().stats().metadata;
    for (int i = 0; i < 20'000; ++i) scene.store("/" + std::to_string(i));
    auto const stats = scene.cache.memory().stats();
    EXPECT_GT(stats.metadata, before + 20'000 * (16 + 8));
    EXPECT_LT(stats.metadata, before + 20'000 * (16 + 16 + 40) + 200 * KiB) << "at most 40 bytes of policy an object";
    EXPECT_EQ(stats.used, stats.cached + stats.metadata);
    for (int i = 0; i < 20'000; ++i) scene.cache.purge(scene.cache.key("/" + std::to_string(i)));
    EXPECT_GT(scene.cache.memory().stats().metadata, before + 20'000 * (16 + 8)) << "arrays do not shrink";
}

TEST_P(EveryPolicy, a_much_smaller_size_gives_the_arrays_back) {
    auto smaller = options(64 * MiB);
    Scene scene(smaller);
    for (int i = 0; i < 50'000; ++i) scene.store("/" + std::to_string(i));
    auto const before = scene.cache.memory().stats().metadata;
    smaller.size = MiB;
    scene.cache.memory().reconfigure(smaller);
    EXPECT_LT(scene.cache.memory().stats().metadata, before / 4);
    EXPECT_LE(scene.cache.memory().stats().used, MiB);
    std::size_t kept = 0;
    for (int i = 0; i < 5'000; ++i) {
        scene.store("/" + std::to_string(i));
        ASSERT_LE(scene.cache.memory().stats().used, MiB);
        kept += scene.stored("/" + std::to_string(i)) == "body";
    }
    EXPECT_GT(kept, 4'000u);
}

// ---- one after the other ----

class EveryPair : public testing::TestWithParam<std::tuple<Row, Row>> {
protected:
    Options options{.size = 4 * MiB, .policy = std::string(std::get<0>(GetParam()).name), .object_max = MiB};
    std::string const other{std::get<1>(GetParam()).name};
};
INSTANTIATE_TEST_SUITE_P(Cache, EveryPair, testing::Combine(every_policy, every_policy), [](auto const& pair) {
    return letters_of(std::get<0>(pair.param).name) + "_then_" + letters_of(std::get<1>(pair.param).name);
});

TEST_P(EveryPair, keeps_contents_and_budget) {
    Scene scene(options);
    auto url = [](int i) { return "/" + std::to_string(i); };
    auto body = [](int i) { return std::to_string(i) + std::string(static_cast<std::size_t>(i % 7) * 100, 'x'); };
    for (int i = 0; i < 600; ++i) scene.store(url(i), {.body = body(i)});
    for (int i = 0; i < 600; i += 3) scene.cache.purge(scene.cache.key(url(i)));
    for (int i = 0; i < 600; i += 2) scene.lookup(url(i), {.collapse = Collapse::alone});
    auto const before = scene.cache.memory().stats();
    EXPECT_EQ(before.objects, 400u);
    options.policy = other;
    scene.cache.memory().reconfigure(options);
    auto const after = scene.cache.memory().stats();
    EXPECT_EQ(after.policy, other);
    EXPECT_EQ(after.objects, before.objects);
    EXPECT_EQ(after.cached, before.cached);
    EXPECT_EQ(after.evictions, 0u);
    EXPECT_EQ(after.used, after.cached + after.metadata);
    for (int i = 0; i < 600; ++i) EXPECT_EQ(scene.stored(url(i), {.collapse = Collapse::alone}), i % 3 ? body(i) : "-");
    // The new policy knows all objects, because it can evict each of them.
    options.size = 256 * KiB;
    options.object_max = 64 * KiB;
    scene.cache.memory().reconfigure(options);
    EXPECT_LE(scene.cache.memory().stats().used, options.size);
    for (int i = 600; i < 1'200; ++i) scene.store(url(i), {.body = std::string(2'000, 'x')});
    EXPECT_LE(scene.cache.memory().stats().used, options.size);
    for (int i = 0; i < 1'200; ++i) scene.cache.purge(scene.cache.key(url(i)));
    EXPECT_EQ(scene.used(), 0u);
}

// Also run it under TSan.
TEST(Policies, change_under_load_and_nothing_is_lost_or_overdrawn) {
    constexpr Bytes size = 2 * MiB;
    Options options{.size = size, .policy = "lru", .object_max = 512 * KiB, .shards = 8};
    Scene scene(options);
    std::atomic<bool> over{false};
    std::atomic<std::uint64_t> hits{0};
    auto load = [&](unsigned seed) {
        std::mt19937 random(seed);
        while (!over) {
            auto const url = "/" + std::to_string(random() % 500);
            auto found = scene.lookup(url);
            if (found.kind == Kind::fresh) {
                ++hits;
                ASSERT_EQ(found.object->key(), url);
                ASSERT_TRUE(found.object->bytes().starts_with(url + "=")) << url;
            } else if (found.lead) {
                auto const body = url + "=" + std::string(random() % 12'000, 'x');
                scene.complete(found.lead, url, {.body = body});
            }
            if (random() % 64 == 0) scene.cache.purge(scene.cache.key(url));
            ASSERT_LE(scene.cache.memory().budget().used(), size);
        }
    };
    std::vector<std::jthread> threads;
    for (unsigned seed = 1; seed <= 3; ++seed) threads.emplace_back(load, seed);
    for (int round = 0; round < 5; ++round) {
        for (auto const& row : policy::all()) {
            std::this_thread::sleep_for(milliseconds{20});
            options.policy = row.name;
            scene.cache.memory().reconfigure(options);
            auto const stats = scene.cache.memory().stats();
            EXPECT_EQ(stats.policy, row.name);
            EXPECT_LE(stats.used, size);
        }
    }
    over = true;
    threads.clear();
    EXPECT_GT(hits, 100u);
    for (int i = 0; i < 500; ++i) scene.cache.purge(scene.cache.key("/" + std::to_string(i)));
    EXPECT_EQ(scene.used(), 0u);
}

}   // namespace
}   // namespace garner::cache
