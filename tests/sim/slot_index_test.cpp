// The simulator's index against a plain map, through growth, churn and hash collisions.
#include "sim/slot_index.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace garner::sim {
namespace {

struct SlotScene {
    explicit SlotScene(std::uint64_t hashes) : hashes_(hashes) {}

    std::uint64_t hash(std::uint64_t key) const {
        auto mixed = (key % hashes_ + 1) * 0x9e3779b97f4a7c15u;
        mixed = (mixed ^ mixed >> 32) * 0xd6e8feb86659fd93u;
        return mixed ^ mixed >> 32;
    }
    void insert(std::uint64_t key) {
        auto slot = static_cast<policy::Slot>(keys_.size());
        keys_.push_back(key);
        index.insert(hash(key), slot, [&](policy::Slot held) { return hash(keys_[held]); });
        model_[key] = slot;
    }
    void erase(std::uint64_t key) {
        index.erase(hash(key), model_.at(key));
        model_.erase(key);
    }
    policy::Slot found(std::uint64_t key) const {
        return index.find(hash(key), [&](policy::Slot slot) { return keys_[slot] == key; });
    }
    void live(int steps, std::uint64_t keys) {
        std::mt19937_64 random(keys);
        for (int step = 0; step < steps; ++step) {
            auto key = random() % keys;
            auto known = model_.find(key);
            ASSERT_EQ(found(key), known == model_.end() ? policy::no_slot : known->second);
            if (known == model_.end())
                insert(key);
            else if (random() % 3)
                erase(key);
            ASSERT_EQ(index.size(), model_.size());
        }
        for (auto [key, slot] : model_) ASSERT_EQ(found(key), slot);
    }

    SlotIndex index;

private:
    std::uint64_t hashes_;
    std::vector<std::uint64_t> keys_;   // by slot
    std::map<std::uint64_t, policy::Slot> model_;
};

TEST(SlotIndex, finds_what_is_there_and_only_that) {
    for (std::uint64_t keys : {1, 5, 30, 1'000, 20'000}) SlotScene(UINT64_MAX).live(60'000, keys);
}

TEST(SlotIndex, tells_keys_with_one_hash_apart) { SlotScene(40).live(60'000, 120); }

TEST(SlotIndex, needs_little_more_than_seven_bytes_a_key_when_it_may_be_four_fifths_full) {
    SlotScene scene(UINT64_MAX);
    scene.index.fill_to(80);
    for (std::uint64_t key = 0; key < 100'000; ++key) {
        scene.insert(key);
        if (key < 2'000) continue;
        ASSERT_LT(static_cast<double>(scene.index.metadata_bytes()), 7.2 * static_cast<double>(key + 1));
    }
}

}   // namespace
}   // namespace garner::sim
