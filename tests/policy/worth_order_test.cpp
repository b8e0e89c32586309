#include "policy/worth_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace garner::policy {
namespace {

/// The definition with full scans, without packing or rounding. If two keys
/// differ by less than the rounding, it adopts the tested order's decision.
class Naive {
public:
    explicit Naive(WorthOrder::Rule rule) : rule_(rule) {}

    void insert(Slot slot, std::uint32_t uses, Bytes size) {
        count(size);
        look_at_mean();
        held_[slot] = {uses, size, age_ + worth(uses, size)};
    }
    void hit(Slot slot) {
        auto& object = held_.at(slot);
        count(object.size);
        object.uses = std::min(object.uses + 1, 255u);
        object.key = std::max(object.key, age_ + worth(object.uses, object.size));
    }
    void evict(Slot slot) {
        age_ = std::max(age_, held_.at(slot).key);
        held_.erase(slot);
    }
    bool may_say(bool admitted, std::uint32_t uses, Bytes size, Bytes need) {
        std::vector<std::pair<double, Bytes>> lowest;
        for (auto const& [slot, object] : held_) lowest.push_back({object.key, object.size});
        std::ranges::sort(lowest);
        double const key = age_ + worth(uses, size);
        Bytes freed = 0;
        double highest = 0, grain = this->grain();
        for (auto const& [victim, bytes] : lowest)
            if (highest = victim; highest > key || (freed += bytes) >= need) break;
        if (!admitted) age_ = std::max(age_, key), count(size), look_at_mean();
        return admitted ? highest <= key + grain : highest > key - grain;
    }
    bool is_lowest(Slot slot) const {
        for (auto const& [_, object] : held_)
            if (object.key < held_.at(slot).key - grain()) return false;
        return true;
    }
    bool holds(Slot slot) const { return held_.contains(slot); }
    Bytes size(Slot slot) const { return held_.at(slot).size; }
    std::size_t count() const { return held_.size(); }

private:
    struct Object {
        std::uint32_t uses;
        Bytes size;
        double key;
    };
    double worth(double uses, Bytes size) const { return uses * (1 / static_cast<double>(size) + rule_.byte_weight / mean_); }
    /// A hundredth of the value of one request of mean size.
    double grain() const { return 0.01 / mean_; }
    void count(Bytes size) { requests_ += 1, bytes_ += static_cast<double>(size); }
    void look_at_mean() { mean_ = bytes_ / requests_; }

    WorthOrder::Rule rule_;
    std::map<Slot, Object> held_;
    double age_ = 0, requests_ = 0, bytes_ = 0, mean_ = 1e9;
};

class TheOrder : public testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(ByteWeights, TheOrder, testing::Values(0, 0.1, 2));

TEST_P(TheOrder, is_that_of_the_definition) {
    WorthOrder::Rule const rule{.byte_weight = GetParam()};
    WorthOrder order(rule);
    Naive naive(rule);
    std::mt19937_64 random(4);
    // Sizes that are stored exactly, so that both free equal amounts.
    constexpr Bytes sizes[] = {96, 112, 1024, 1280, 3072, 5120, 1 << 16};
    int refused = 0;
    for (int step = 0; step < 50'000; ++step) {
        auto slot = static_cast<Slot>(random() % 120);
        if (naive.holds(slot)) {
            if (random() % 4) {
                naive.hit(slot), order.hit(slot, naive.size(slot));
                continue;
            }
            slot = order.lowest();
            ASSERT_TRUE(naive.is_lowest(slot)) << "at step " << step;
            naive.evict(slot), order.remove(slot, Left::evicted);
        } else {
            Bytes size = sizes[random() % std::size(sizes)], need = random() % 5000;
            auto uses = static_cast<std::uint32_t>(1 + random() % 15);
            bool admitted = order.admits(uses, size, need);
            ASSERT_TRUE(naive.may_say(admitted, uses, size, need)) << "at step " << step;
            refused += !admitted;
            if (admitted) naive.insert(slot, uses, size), order.insert(slot, uses, size);
        }
    }
    EXPECT_GT(refused, 1000);
    EXPECT_GT(naive.count(), 10u);
}

std::vector<Slot> drained(WorthOrder& order) {
    std::vector<Slot> slots;
    for (Slot slot; (slot = order.lowest()) != no_slot; order.remove(slot, Left::evicted)) slots.push_back(slot);
    return slots;
}

TEST(WorthOrder, prefers_the_small_and_with_weight_on_bytes_the_often_used) {
    for (auto [weight, first] : {std::pair{0.0, 1u}, std::pair{100.0, 0u}}) {
        WorthOrder order({.byte_weight = weight});
        order.insert(1, 3, 10'000);
        order.insert(0, 1, 100);
        EXPECT_EQ(order.lowest(), first);
    }
}

TEST(WorthOrder, refuses_a_large_newcomer_that_would_push_out_one_of_more_worth) {
    WorthOrder order({});
    order.insert(0, 1, 1000);
    order.insert(1, 5, 100);
    EXPECT_TRUE(order.admits(1, 900, 500));     // evicts only the first
    EXPECT_FALSE(order.admits(1, 900, 1050));   // evicts both
    EXPECT_TRUE(order.admits(50, 900, 1050));
}

TEST(WorthOrder, lets_nothing_stay_for_ever) {
    WorthOrder order({});
    order.insert(0, 15, 10);
    int refused = 0;
    while (!order.admits(1, 1000, 1000)) ASSERT_LT(++refused, 10'000);
    EXPECT_GT(refused, 10);
}

TEST(WorthOrder, by_recency_is_LRU_and_admits_all) {
    WorthOrder order({.recency = true});
    for (Slot slot : {0u, 1u, 2u, 3u}) order.insert(slot, 1 + slot, 1000 - slot);
    order.hit(1, 999);
    order.resize(0, 5);
    EXPECT_TRUE(order.admits(1, 1 * GiB, 1 * GiB));
    EXPECT_EQ(drained(order), (std::vector<Slot>{0, 2, 3, 1}));
}

TEST(WorthOrder, goes_on_with_what_is_held_when_the_rule_changes) {
    WorthOrder order({});
    for (Slot slot = 0; slot < 100; ++slot) order.insert(slot, 1, 1000 + slot);
    for (Slot slot = 0; slot < 50; ++slot) order.remove(order.lowest(), Left::evicted);
    for (Slot slot = 0; slot < 10; ++slot) order.hit(slot, 1000 + slot);   // the others have aged
    order.change({.recency = true});
    order.insert(100, 1, 1);
    order.change({.byte_weight = 0.1});
    order.change({.recency = true});
    auto slots = drained(order);
    ASSERT_EQ(slots.size(), 51u);
    EXPECT_EQ(slots.back(), 100u);
    EXPECT_GT(*std::min_element(slots.begin(), slots.begin() + 40), 9u);   // the ten recently used ones stay longer
}

TEST(WorthOrder, goes_on_when_keys_have_come_to_the_end_of_their_range) {
    // Each has the maximum value, so that L reaches its end after a few evictions.
    WorthOrder order({});
    for (Slot slot = 0; slot < 8; ++slot) order.insert(slot, 1, 1 * GiB);
    std::vector<Slot> left;
    for (int i = 0; i < 10'000; ++i) {
        Slot slot = order.lowest();
        order.remove(slot, Left::evicted);
        left.push_back(slot);
        order.insert(slot, 60, 1);
    }
    // All objects are equal, so they are evicted in turn.
    for (Slot slot = 0; slot < 8; ++slot) EXPECT_NEAR(static_cast<double>(std::ranges::count(left, slot)), 1250, 30);
}

TEST(WorthOrder, keeps_its_order_when_sizes_become_much_larger_or_smaller) {
    for (double factor : {1e-3, 1e3}) {
        WorthOrder order({});
        Slot slot = 0;
        for (double size = 1e6; slot < 400; ++slot) {
            order.insert(slot, 1, static_cast<Bytes>(size * (1 + slot % 100)));
            if (slot == 199) size *= factor;
        }
        auto slots = drained(order);
        bool const small = factor < 1;   // the first ones are the large ones, or the others
        EXPECT_TRUE(std::all_of(slots.begin(), slots.begin() + 50, [&](Slot s) { return (s < 200) == small; }));
    }
}

}   // namespace
}   // namespace garner::policy
