#include "policy/rising_heap.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace garner::policy {
namespace {

struct Entry {
    std::uint32_t key;
    Slot slot : 31;
    std::uint32_t risen : 1;
    bool below(Entry const& other) const { return key < other.key; }
};
using Heap = RisingHeap<Entry>;

/// Drains all slots, lowest first, and expects them to be sorted by `keys`.
void expect_drained_in_order(Heap& heap, std::vector<std::uint32_t> const& keys) {
    std::uint32_t last = 0;
    std::size_t seen = 0;
    for (Slot slot; (slot = heap.lowest()) != no_slot; heap.remove(slot), ++seen) {
        EXPECT_EQ(heap.entry(slot).key, keys[slot]);
        EXPECT_LE(last, keys[slot]);
        last = keys[slot];
    }
    EXPECT_EQ(seen, keys.size());
}

TEST(RisingHeap, gives_the_lowest_whatever_rose_moved_or_left) {
    std::mt19937 random(9);
    for (int round = 0; round < 200; ++round) {
        Heap heap;
        std::vector<std::uint32_t> keys;
        auto any = [&] { return static_cast<Slot>(random() % keys.size()); };
        for (Slot slot = 0; slot < 60; ++slot) {
            keys.push_back(random() % 50);
            heap.push({keys[slot], slot, 0});
            Slot risen = any(), moved = any(), back = any();
            heap.raise(risen).key = keys[risen] += random() % 10;
            heap.update(moved, [&](Entry& entry) { entry.key = keys[moved] = random() % 50; });
            heap.remove(back);
            EXPECT_FALSE(heap.contains(back));
            heap.push({keys[back], back, 0});
        }
        expect_drained_in_order(heap, keys);
    }
}

TEST(RisingHeap, ascends_by_true_keys_and_stops_where_told) {
    std::mt19937 random(2);
    Heap heap;
    std::vector<std::uint32_t> keys;
    for (Slot slot = 0; slot < 300; ++slot) {
        keys.push_back(random() % 100);
        heap.push({keys[slot], slot, 0});
        Slot risen = static_cast<Slot>(random() % keys.size());
        heap.raise(risen).key = keys[risen] += random() % 50;
        std::uint32_t last = 0;
        std::size_t seen = 0, most = random() % 400;
        heap.ascend([&](Entry const& entry) {
            EXPECT_EQ(entry.key, keys[entry.slot]);
            EXPECT_LE(last, entry.key);
            last = entry.key;
            return ++seen < most;
        });
        EXPECT_EQ(seen, std::min(std::max<std::size_t>(most, 1), keys.size()));
    }
}

TEST(RisingHeap, takes_new_keys_for_all) {
    Heap heap;
    std::vector<std::uint32_t> keys;
    for (Slot slot = 0; slot < 500; ++slot) heap.push({slot, slot, 0}), keys.push_back(slot * 7919 % 500);
    for (Slot slot = 0; slot < 500; slot += 3) heap.raise(slot).key = 1000;
    heap.change_all([&](Entry& entry) { entry.key = keys[entry.slot]; });
    expect_drained_in_order(heap, keys);
}

}   // namespace
}   // namespace garner::policy
