#include "policy/lazy_heap.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <utility>
#include <vector>

namespace garner::policy {
namespace {

std::vector<Slot> drained(LazyHeap& heap) {
    std::vector<Slot> order;
    for (Slot slot; (slot = heap.lowest()) != no_slot; heap.remove(slot)) order.push_back(slot);
    return order;
}

using Keys = LazyHeap::Keys;
class LazyHeapOfEither : public testing::TestWithParam<Keys> {};
INSTANTIATE_TEST_SUITE_P(all, LazyHeapOfEither, testing::Values(Keys::exact, Keys::lean));

TEST_P(LazyHeapOfEither, sorts) {
    auto const keys = GetParam();
    LazyHeap heap(keys);
    for (Slot slot = 0; slot < 1000; ++slot) heap.push(slot, (slot * 7919) % 1000);
    auto order = drained(heap);
    ASSERT_EQ(order.size(), 1000u);
    for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i] * 7919 % 1000, i);
}

TEST_P(LazyHeapOfEither, sees_every_raise_at_the_next_question) {
    auto const keys = GetParam();
    LazyHeap heap(keys);
    for (Slot slot = 0; slot < 500; ++slot) heap.push(slot, 0);
    for (Slot slot = 0; slot < 500; ++slot) heap.raise(slot, 500 - slot);
    auto order = drained(heap);
    for (Slot i = 0; i < 500; ++i) EXPECT_EQ(order[i], 499 - i);
}

TEST_P(LazyHeapOfEither, puts_a_newcomer_above_risen_entries_in_its_way) {
    auto const keys = GetParam();
    // Each push passes parents whose keys have risen and whose children were not compared since.
    std::mt19937_64 random(9);
    for (int round = 0; round < 200; ++round) {
        LazyHeap heap(keys);
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

TEST_P(LazyHeapOfEither, keeps_the_order_of_use_when_the_count_of_uses_ends) {
    auto const keys = GetParam();
    LazyHeap heap(keys, UINT32_MAX - 5);
    for (Slot slot = 0; slot < 10; ++slot) heap.push(slot, 1);
    heap.raise(3, 1);
    heap.raise(0, 1);
    EXPECT_EQ(drained(heap), (std::vector<Slot>{1, 2, 4, 5, 6, 7, 8, 9, 3, 0}));
}

TEST(LazyHeap, that_is_lean_keeps_keys_to_a_few_millionths_and_their_order) {
    std::vector<double> const keys{-1e300, -7.5, -1e-300, 0, 1e-300, 1, 1 + 1e-8, 1e6, 1e300};
    LazyHeap heap(Keys::lean);
    for (Slot slot = 0; slot < keys.size(); ++slot) heap.push(slot, keys[keys.size() - 1 - slot]);
    for (Slot slot = 0; slot < keys.size(); ++slot) {
        auto const key = keys[keys.size() - 1 - slot];
        EXPECT_LE(heap.key(slot), key);
        EXPECT_NEAR(heap.key(slot), key, std::abs(key) * 4e-9);
        heap.update(slot, heap.key(slot));
        heap.raise(slot, heap.key(slot));   // the stored key is never lower than before
    }
    auto const order = drained(heap);
    for (Slot i = 0; i < keys.size(); ++i) EXPECT_EQ(order[i], keys.size() - 1 - i);
}

TEST(LazyHeap, needs_20_bytes_a_slot_or_16) {
    for (auto [keys, most] : {std::pair(Keys::exact, 20.6), std::pair(Keys::lean, 16.6)}) {
        LazyHeap heap(keys);
        for (Slot slot = 0; slot < 100'000; ++slot) heap.push(slot, 1);
        EXPECT_LT(static_cast<double>(heap.metadata_bytes()), most * 100'000);
    }
}

TEST(LazyHeapDeathTest, refuses_a_key_that_falls_on_a_raise) {
    LazyHeap heap;
    heap.push(0, 2);
    EXPECT_DEATH(heap.raise(0, 1), "broken invariant");
}

}   // namespace
}   // namespace garner::policy
