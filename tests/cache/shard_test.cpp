// Index of one shard: open addressing finds exactly the keys that were inserted and not removed.
#include "cache/shard.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>

#include "policy/policies.hpp"

namespace garner::cache {
namespace {

struct ShardScene {
    explicit ShardScene(std::string_view policy = "lru") : shard(policy::make(policy, {.capacity = MiB})) {}
    store::Budget budget{GiB, GiB};
    Shard shard;

    store::ObjectPtr object(std::string_view key, std::string_view bytes = {}) {
        store::Object::Parts parts;
        parts.key = key;
        parts.bytes = bytes;
        EXPECT_TRUE(budget.reserve(store::Object::cost_of(parts)));
        return store::Object::make(parts, &budget);
    }
};

TEST(Shard, tells_keys_with_one_fingerprint_apart) {
    ShardScene scene;
    constexpr Fingerprint same = 77;
    scene.shard.put(same, scene.object("a", "1"));
    scene.shard.put(same, scene.object("b", "2"));
    EXPECT_EQ(scene.shard.find(same, "a").object->bytes(), "1");
    EXPECT_EQ(scene.shard.find(same, "b").object->bytes(), "2");
    EXPECT_FALSE(scene.shard.find(same, "c"));
    auto old = scene.shard.put(same, scene.object("a", "3"));
    EXPECT_EQ(old->bytes(), "1");
    EXPECT_EQ(scene.shard.objects(), 2u);
    scene.shard.remove(scene.shard.find(same, "a").slot, policy::Left::purged);
    EXPECT_FALSE(scene.shard.find(same, "a"));
    EXPECT_EQ(scene.shard.find(same, "b").object->bytes(), "2");
}

TEST(Shard, knows_whether_it_has_parts) {
    ShardScene scene;
    scene.shard.put('a', scene.object("a"));
    EXPECT_FALSE(scene.shard.has_parts());
    scene.shard.put('p', scene.object(parts_text("a")));
    scene.shard.put('p', scene.object(parts_text("a")));
    scene.shard.set_policy(policy::make("gdsf", {}));
    EXPECT_TRUE(scene.shard.has_parts());
    scene.shard.remove(scene.shard.find('a', "a").slot, policy::Left::purged);
    EXPECT_TRUE(scene.shard.has_parts());
    scene.shard.evict();
    EXPECT_FALSE(scene.shard.has_parts());
}

TEST(Shard, freshening_keeps_the_place_in_the_order_and_replacing_does_not) {
    ShardScene scene;
    for (auto const* key : {"a", "b", "c"}) scene.shard.put(static_cast<Fingerprint>(*key), scene.object(key));
    auto old = scene.shard.freshen(scene.shard.find('a', "a").slot, scene.object("a", "longer than before"));
    EXPECT_EQ(old->bytes(), "");
    EXPECT_EQ(scene.shard.evict()->key(), "a");
    scene.shard.put('b', scene.object("b"));
    EXPECT_EQ(scene.shard.evict()->key(), "c");
    EXPECT_EQ(scene.shard.evict()->key(), "b");
    EXPECT_EQ(scene.shard.evict(), nullptr);
    EXPECT_EQ(scene.shard.bytes(), 0u);
}

TEST(Shard, a_victim_that_is_being_read_is_spared_on_request) {
    ShardScene scene;
    for (auto const* key : {"a", "b", "c"}) scene.shard.put(static_cast<Fingerprint>(*key), scene.object(key));
    store::ObjectPtr const read(scene.shard.find('a', "a").object);
    EXPECT_EQ(scene.shard.evict(Shard::Held::spared)->key(), "b");
    EXPECT_EQ(scene.shard.evict(Shard::Held::spared)->key(), "c");
    EXPECT_EQ(scene.shard.evict(Shard::Held::spared), nullptr);
    EXPECT_EQ(scene.shard.evict()->key(), "a");
}

TEST(Shard, another_policy_holds_the_same_objects) {
    ShardScene scene;
    for (Fingerprint i = 0; i < 1'000; ++i) scene.shard.put(i, scene.object(std::to_string(i)));
    for (Fingerprint i = 0; i < 1'000; i += 3)
        scene.shard.remove(scene.shard.find(i, std::to_string(i)).slot, policy::Left::purged);
    scene.shard.set_policy(policy::make("gdsf", {}));
    EXPECT_EQ(scene.shard.objects(), 666u);
    std::size_t evicted = 0;
    while (scene.shard.evict()) ++evicted;
    EXPECT_EQ(evicted, 666u);
    EXPECT_EQ(scene.budget.used(), 0u);
}

/// Inserts, hits and removals, equal in each run.
void live(ShardScene& scene) {
    std::mt19937 random(1);
    auto key = [](auto i) { return std::to_string(1'000 + i); };
    for (unsigned i = 0; i < 300; ++i) scene.shard.put(i, scene.object(key(i)));
    for (unsigned i = 0; i < 1'000; ++i) {
        auto const which = random() % 300;
        scene.shard.policy().requested(which);
        auto const found = scene.shard.find(which, key(which));
        if (!found) continue;
        if (i % 20 == 0)
            scene.shard.remove(found.slot, policy::Left::purged);
        else
            scene.shard.policy().hit(found.slot, found.object->cost());
    }
}

/// All keys in eviction order; empties the shard.
std::vector<std::string> order_of_leaving(Shard& shard) {
    std::vector<std::string> order;
    for (auto slot = shard.policy().victim(); slot != policy::no_slot; slot = shard.policy().victim())
        order.emplace_back(shard.remove(slot, policy::Left::purged)->key());
    return order;
}

// If sizes are equal, policies that know sizes give all newcomers equal value, so the oldest is evicted first.
TEST(Shard, what_was_about_to_leave_is_the_first_to_leave_under_the_next_policy) {
    std::string_view const by_time[]{"lru", "fifo", "clock", "sieve", "lfu", "lfuda", "gdsf"};
    for (auto const& before : policy::all()) {
        ShardScene same(before.name);
        live(same);
        auto const order = order_of_leaving(same.shard);
        EXPECT_GT(order.size(), 200u);
        for (auto const& after : policy::all()) {
            ShardScene scene(before.name);
            live(scene);
            scene.shard.set_policy(policy::make(after.name, {.capacity = MiB}));
            auto now = order_of_leaving(scene.shard);
            if (std::ranges::find(by_time, after.name) != std::end(by_time)) {
                EXPECT_EQ(now, order) << before.name << ", then " << after.name;
            }
            EXPECT_TRUE(std::ranges::is_permutation(now, order)) << before.name << ", then " << after.name;
            EXPECT_EQ(scene.budget.used(), 0u);
        }
    }
}

TEST(Shard, a_mark_holds_until_its_time_and_only_for_its_url) {
    ShardScene scene;
    scene.shard.mark_hit_for_pass(5, 1'000, "private");
    EXPECT_TRUE(scene.shard.is_hit_for_pass(5, 999));
    EXPECT_STREQ(scene.shard.hit_for_pass_reason(5), "private");
    EXPECT_STREQ(scene.shard.hit_for_pass_reason(5 + 256), "");
    EXPECT_FALSE(scene.shard.is_hit_for_pass(5, 1'000));
    EXPECT_FALSE(scene.shard.is_hit_for_pass(5 + 256, 999));
    scene.shard.clear_hit_for_pass(5 + 256);
    EXPECT_TRUE(scene.shard.is_hit_for_pass(5, 999));
    scene.shard.clear_hit_for_pass(5);
    EXPECT_FALSE(scene.shard.is_hit_for_pass(5, 999));
}

/// The shard must agree with this map.
using Expected = std::map<std::pair<Fingerprint, std::string>, std::string>;

void expect_same(Shard const& shard, Expected const& model) {
    ASSERT_EQ(shard.objects(), model.size());
    Bytes bytes = 0;
    for (auto const& [where, value] : model) {
        auto found = shard.find(where.first, where.second);
        ASSERT_TRUE(found);
        ASSERT_EQ(found.object->bytes(), value);
        bytes += found.object->cost();
    }
    ASSERT_EQ(shard.bytes(), bytes);
}

// Few fingerprints with equal home slots: long probe sequences that wrap, and holes within them.
TEST(Shard, agrees_with_a_map_over_200_000_random_operations) {
    ShardScene scene;
    auto seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    Expected model;
    for (int i = 0; i < 200'000; ++i) {
        auto which = random() % 600;
        Fingerprint fingerprint = (which % 7 == 0 ? ~Fingerprint{0} - which % 3 : Fingerprint{which} << 6) & ~Fingerprint{0x3f};
        auto key = std::to_string(which);
        std::pair where{fingerprint, key};
        auto found = scene.shard.find(fingerprint, key);
        auto known = model.find(where);
        ASSERT_EQ(bool(found), known != model.end());
        switch (random() % 4) {
        case 0:
        case 1: {
            auto value = std::to_string(i);
            auto old = scene.shard.put(fingerprint, scene.object(key, value));
            ASSERT_EQ(old != nullptr, known != model.end());
            model[where] = value;
            break;
        }
        case 2:
            if (!found) break;
            scene.shard.remove(found.slot, policy::Left::purged);
            model.erase(known);
            break;
        default:
            if (random() % 8 != 0) break;
            if (auto gone = scene.shard.evict()) {
                ASSERT_EQ(std::erase_if(model, [&](auto const& entry) { return entry.first.second == gone->key(); }), 1u);
            }
        }
        if (i % 10'000 == 0) {
            ASSERT_NO_FATAL_FAILURE(expect_same(scene.shard, model));
        }
    }
    ASSERT_NO_FATAL_FAILURE(expect_same(scene.shard, model));
    while (scene.shard.evict()) {
    }
    EXPECT_EQ(scene.budget.used(), 0u);
}

}   // namespace
}   // namespace garner::cache
