// Slots for hashes: dense, reused, and found at any count.
#include "store/disk_slots.hpp"

#include <gtest/gtest.h>

#include <random>
#include <unordered_map>
#include <vector>

#include "store/disk_index.hpp"

namespace garner::store::disk {
namespace {

constexpr Fingerprint kept_bits = ~Fingerprint{0} << (64 - Index::hash_bits_max);

TEST(DiskSlots, a_hash_has_a_slot_from_insert_to_erase) {
    SlotTable slots;
    EXPECT_EQ(slots.find(42), policy::no_slot);
    Fingerprint const hash = 0x1234'5678'9abc'def0;
    auto slot = slots.insert(hash, 100);
    EXPECT_EQ(slot, 0u);
    EXPECT_EQ(slots.find(hash), slot);
    EXPECT_EQ(slots.hash(slot), hash & kept_bits);
    EXPECT_EQ(slots.find(slots.hash(slot)), slot);
    EXPECT_EQ(slots.bytes(slot), 168u);
    slots.erase(slot);
    EXPECT_EQ(slots.find(hash), policy::no_slot);
    EXPECT_EQ(slots.size(), 0u);
    EXPECT_EQ(slots.insert(~hash, 64), slot);
}

TEST(DiskSlots, erasing_what_is_not_held_is_a_bug_that_stops) {
    SlotTable slots;
    auto slot = slots.insert(1, 64);
    slots.erase(slot);
    EXPECT_DEATH(slots.erase(slot), "broken invariant");
}

TEST(DiskSlots, agrees_with_a_map_over_many_random_calls) {
    SlotTable slots;
    std::unordered_map<Fingerprint, policy::Slot> map;
    std::mt19937_64 random(1);
    std::vector<Fingerprint> hashes(5'000);
    // A third of them share one chain.
    for (auto& hash : hashes) hash = (random() % 3 ? random() : random() & ~Fingerprint{0} << 52) & kept_bits;
    for (int step = 0; step < 200'000; ++step) {
        auto hash = hashes[random() % (step < 100'000 ? hashes.size() : 500)];
        auto slot = slots.find(hash);
        auto known = map.find(hash);
        ASSERT_EQ(slot, known == map.end() ? policy::no_slot : known->second);
        if (slot == policy::no_slot) {
            map[hash] = slots.insert(hash, 64);
            ASSERT_LT(map[hash], hashes.size());
        } else if (random() % 2) {
            ASSERT_EQ(slots.hash(slot), hash);
            slots.erase(slot);
            map.erase(hash);
        }
        ASSERT_EQ(slots.size(), map.size());
    }
    for (auto [hash, slot] : map) EXPECT_EQ(slots.find(hash), slot);
}

TEST(DiskSlots, takes_less_than_ten_bytes_a_record) {
    SlotTable slots;
    std::mt19937_64 random(1);
    for (int i = 0; i < 300'000; ++i) slots.insert(random(), 1'000);
    EXPECT_LT(static_cast<double>(slots.metadata_bytes()) / 300'000, 9.5);
}

}   // namespace
}   // namespace garner::store::disk
