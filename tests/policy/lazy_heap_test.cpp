#include "policy/lazy_heap.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace garner::policy {
namespace {

std::vector<Slot> drained(LazyHeap& heap) {
    std::vector<Slot> order;
    for (Slot slot; (slot = heap.lowest()) != no_slot; heap.remove(slot)) order.push_back(slot);
    return order;
}

TEST(LazyHeap, sorts) {
    LazyHeap heap;
    for (Slot slot = 0; slot < 1000; ++slot) heap.push(slot, (slot * 7919) % 1000);
    auto order = drained(heap);
    ASSERT_EQ(order.size(), 1000u);
    for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i] * 7919 % 1000, i);
}

TEST(LazyHeap, sees_every_raise_at_the_next_question) {
    LazyHeap heap;
    for (Slot slot = 0; slot < 500; ++slot) heap.push(slot, 0);
    for (Slot slot = 0; slot < 500; ++slot) heap.raise(slot, 500 - slot);
    auto order = drained(heap);
    for (Slot i = 0; i < 500; ++i) EXPECT_EQ(order[i], 499 - i);
}

TEST(LazyHeap, puts_a_newcomer_above_risen_entries_in_its_way) {
    // Each push climbs through parents that have risen and whose children have not been compared since.
    std::mt19937_64 random(9);
    for (int round = 0; round < 200; ++round) {
        LazyHeap heap;
        std::vector<double> keys;
        for (Slot slot = 0; slot < 60; ++slot) {
            keys.push_back(static_cast<double>(random() % 20));
            heap.push(slot, keys[slot]);
            Slot risen = static_cast<Slot>(random() % keys.size());
            heap.raise(risen, keys[risen] += static_cast<double>(random() % 10));
        }
        double last = -1;
        for (Slot slot : drained(heap)) {
            EXPECT_LE(last, keys[slot]);
            last = keys[slot];
        }
    }
}

TEST(LazyHeap, keeps_the_order_of_use_when_the_count_of_uses_ends) {
    LazyHeap heap(UINT32_MAX - 5);
    for (Slot slot = 0; slot < 10; ++slot) heap.push(slot, 1);
    heap.raise(3, 1);
    heap.raise(0, 1);
    EXPECT_EQ(drained(heap), (std::vector<Slot>{1, 2, 4, 5, 6, 7, 8, 9, 3, 0}));
}

TEST(LazyHeapDeathTest, refuses_a_key_that_falls_on_a_raise) {
    LazyHeap heap;
    heap.push(0, 2);
    EXPECT_DEATH(heap.raise(0, 1), "broken invariant");
}

}  // namespace
}  // namespace garner::policy
