// Every registered policy can order evictions from disk, with little memory.
#include "store/disk_order.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <random>
#include <thread>
#include <unordered_map>
#include <vector>

#include "policy/policies.hpp"
#include "store/disk_index.hpp"
#include "store/disk_sizes.hpp"

namespace garner::store::disk {
namespace {

using policy::Left;
constexpr Fingerprint first_bits = ~Fingerprint{0} << (64 - Index::hash_bits_max);

Fingerprint hash_of(std::uint64_t key) { return fingerprint({reinterpret_cast<char const*>(&key), sizeof key}, 1); }

/// Keys in eviction order.
std::vector<std::uint64_t> drain(Order& order, std::uint64_t keys) {
    std::unordered_map<Fingerprint, std::uint64_t> key_of;
    for (std::uint64_t key = 0; key < keys; ++key) key_of[hash_of(key) & first_bits] = key;
    std::vector<std::uint64_t> left;
    while (auto victim = order.victim()) {
        left.push_back(key_of.at(*victim));
        order.removed(*victim, Left::evicted);
    }
    return left;
}

using Keys = std::vector<std::uint64_t>;

TEST(DiskOrder, fifo_reinsertion_keeps_what_was_used_and_names_no_victims) {
    auto order = make_order("fifo-reinsertion", 1 * GiB, 1);
    order->stored(hash_of(1), 1'000);
    EXPECT_FALSE(order->keeps(hash_of(1), 0));
    EXPECT_TRUE(order->keeps(hash_of(1), 1));
    EXPECT_FALSE(order->victim());
    EXPECT_LT(order->metadata_bytes(), 100u);
}

TEST(DiskOrder, lru_lets_go_of_what_was_not_used_longest) {
    auto order = make_order("lru", 1 * MiB, 1);
    for (std::uint64_t key : {0, 1, 2, 3}) order->stored(hash_of(key), 1'000);
    order->used(hash_of(1));
    order->used(hash_of(0));
    EXPECT_TRUE(order->keeps(hash_of(2), 0));
    EXPECT_EQ(drain(*order, 4), (Keys{2, 3, 1, 0}));
    EXPECT_FALSE(order->keeps(hash_of(2), 3));
}

TEST(DiskOrder, lfuda_lets_go_of_what_was_used_least_and_does_not_keep_what_is_worth_no_more_than_that) {
    auto order = make_order("lfuda", 1 * MiB, 1);
    for (std::uint64_t key : {0, 1, 2}) order->stored(hash_of(key), 1'000);
    order->used(hash_of(0));
    order->used(hash_of(0));
    order->used(hash_of(1));
    EXPECT_EQ(order->victim(), hash_of(2) & first_bits);
    order->removed(*order->victim(), Left::evicted);
    order->removed(hash_of(1), Left::evicted);
    order->stored(hash_of(3), 1'000);
    EXPECT_TRUE(order->keeps(hash_of(0), 0));
    EXPECT_TRUE(order->keeps(hash_of(3), 0));
    order->removed(hash_of(3), Left::evicted);
    EXPECT_FALSE(order->keeps(hash_of(0), 3));
    EXPECT_EQ(drain(*order, 4), Keys{0});
}

TEST(DiskOrder, gdsf_lets_go_of_the_large_first) {
    auto order = make_order("gdsf", 1 * MiB, 1);
    order->stored(hash_of(0), 1'008);
    order->stored(hash_of(1), 100'000);
    order->stored(hash_of(2), 10'000);
    for (int i = 0; i < 20; ++i) order->used(hash_of(2));
    EXPECT_EQ(drain(*order, 3), (Keys{1, 0, 2}));
}

TEST(DiskOrder, a_record_stored_again_is_a_newcomer_and_one_unknown_is_nothing) {
    auto order = make_order("fifo", 1 * MiB, 1);
    for (std::uint64_t key : {0, 1, 2, 0}) order->stored(hash_of(key), 1'000);
    order->used(hash_of(9));
    order->removed(hash_of(9), Left::purged);
    order->removed(hash_of(1), Left::purged);
    EXPECT_FALSE(order->keeps(hash_of(9), 3));
    EXPECT_EQ(drain(*order, 3), (Keys{2, 0}));
}

TEST(DiskOrder, a_large_store_lets_go_where_most_lies) {
    auto order = make_order("lru", 64 * GiB, 1);
    std::mt19937_64 random(1);
    std::size_t const count = 20'000;
    for (std::uint64_t key = 0; key < count; ++key) order->stored(hash_of(key), 1'000);
    Keys left;
    std::unordered_map<Fingerprint, std::uint64_t> key_of;
    for (std::uint64_t key = 0; key < count; ++key) key_of[hash_of(key) & first_bits] = key;
    std::size_t old = 0;
    for (std::size_t i = 0; i < count / 2; ++i) {
        auto victim = order->victim();
        ASSERT_TRUE(victim);
        old += key_of.at(*victim) < count / 2;
        order->removed(*victim, Left::evicted);
    }
    EXPECT_GT(old, count / 2 * 9 / 10);
    EXPECT_EQ(drain(*order, count).size(), count / 2);
}

TEST(DiskOrder, the_fault_of_a_wrong_policy_names_the_right_ones) {
    EXPECT_EQ(order_fault("fifo-reinsertion"), "");
    EXPECT_EQ(order_fault("lfuda"), "");
    EXPECT_EQ(order_fault("slru:protected=0.5"), "");
    EXPECT_NE(order_fault("fifo-insertion").find("no policy \"fifo-insertion\"; valid policies: lru, "), std::string::npos);
    EXPECT_NE(order_fault("fifo-insertion").find("garner, and for the disk tier fifo-reinsertion"), std::string::npos);
    EXPECT_EQ(order_fault("lru:x=1"), "lru: no setting \"x\"; this policy has no settings");
    EXPECT_EQ(make_order("nonsense", 1 * GiB, 1), nullptr);
}

class EveryOrder : public testing::TestWithParam<policy::Row> {};
INSTANTIATE_TEST_SUITE_P(DiskOrder, EveryOrder, testing::ValuesIn(policy::all().begin(), policy::all().end()),
                         [](auto const& info) { return std::string(info.param.name); });

/// The policy itself over a map, with the calls that the order gets.
class Model {
public:
    Model(std::string_view policy, Bytes capacity)
        : policy_(policy::make(policy, {.capacity = capacity, .seed = 7, .lean = true})) {}

    void stored(Fingerprint hash, Bytes bytes) {
        policy_->requested(hash);
        remove(hash, Left::replaced);
        policy::Slot slot = free_.empty() ? static_cast<policy::Slot>(hashes_.size()) : free_.back();
        free_.empty() ? hashes_.push_back(0) : free_.pop_back();
        hashes_[slot] = hash;
        auto rounded = typical_of_class(size_class(bytes));
        held_[hash] = {slot, rounded};
        policy_->inserted(slot, hash, rounded);
    }
    void used(Fingerprint hash) {
        policy_->requested(hash);
        if (held_.contains(hash)) policy_->hit(held_[hash].slot, held_[hash].bytes);
    }
    void remove(Fingerprint hash, Left why) {
        auto found = held_.find(hash);
        if (found == held_.end()) return;
        policy_->removed(found->second.slot, why);
        free_.push_back(found->second.slot);
        held_.erase(found);
    }
    bool keeps(Fingerprint hash) { return held_.contains(hash) && policy_->keeps(held_[hash].slot); }
    std::optional<Fingerprint> victim() {
        auto slot = policy_->victim();
        return slot == policy::no_slot ? std::nullopt : std::optional(hashes_[slot] & first_bits);
    }
    std::size_t size() const { return held_.size(); }

private:
    struct Held {
        policy::Slot slot;
        Bytes bytes;
    };
    std::unique_ptr<policy::ReplacementPolicy> policy_;
    std::unordered_map<Fingerprint, Held> held_;
    std::vector<Fingerprint> hashes_;
    std::vector<policy::Slot> free_;
};

TEST_P(EveryOrder, is_the_policy_over_dense_slots) {
    constexpr Bytes capacity = 1 * MiB;
    auto order = make_order(GetParam().name, capacity, 7);
    Model model(GetParam().name, capacity);
    std::unordered_map<Fingerprint, Fingerprint> whole;
    std::mt19937_64 random(1);
    for (int step = 0; step < 20'000; ++step) {
        auto const hash = hash_of(std::min(random() % 1'000, random() % 1'000));
        whole[hash & first_bits] = hash;
        switch (random() % 8) {
        case 0:
        case 1:
        case 2: {
            Bytes const bytes = (4 + hash % 250) * 16;
            order->stored(hash, bytes);
            model.stored(hash, bytes);
            break;
        }
        case 3:
        case 4:
        case 5:
            order->used(hash);
            model.used(hash);
            break;
        case 6:
            ASSERT_EQ(order->keeps(hash, 0), model.keeps(hash)) << step;
            order->removed(hash, Left::purged);
            model.remove(hash, Left::purged);
            break;
        default: break;
        }
        if (model.size() < 300) continue;
        auto const victim = model.victim();
        ASSERT_EQ(order->victim(), victim) << step;
        order->removed(*victim, Left::evicted);
        model.remove(whole[*victim], Left::evicted);
    }
}

/// Includes the index, in bytes. The goal is forty; one policy alone needs more.
TEST_P(EveryOrder, needs_little_memory_for_a_record) {
    constexpr std::size_t count = 100'000;
    Index index(1 * GiB);
    auto order = make_order(GetParam().name, 1 * GiB, 1);
    for (std::uint64_t key = 0; key < 2 * count; ++key) {
        if (key >= count) {
            auto const victim = *order->victim();
            index.erase(victim);
            order->removed(victim, Left::evicted);
        }
        index.put(hash_of(key), 16, 10'000, 0);
        order->stored(hash_of(key), 10'000);
        if (key % 4 == 0) order->used(hash_of(key / 2));
    }
    ASSERT_NEAR(static_cast<double>(index.size()), count, 10);   // the index keeps fewer bits of the hashes
    auto const each = static_cast<double>(index.metadata_bytes() + order->metadata_bytes()) / count;
    std::printf("%-10s %5.1f B a record\n", GetParam().name.data(), each);
    static std::unordered_map<std::string_view, double> const above{{"cpbad", 48}};
    EXPECT_LT(each, above.contains(GetParam().name) ? above.at(GetParam().name) : 40);
}

TEST(DiskOrder, threads_may_call_at_once) {
    auto order = make_order("garner", 4 * GiB, 1);
    auto work = [&](std::uint64_t thread) {
        std::mt19937_64 random(thread);
        for (int i = 0; i < 5'000; ++i) {
            auto hash = hash_of(random() % 2'000);
            order->stored(hash, 1'000);
            order->used(hash_of(random() % 2'000));
            order->keeps(hash, 0);
            if (auto victim = order->victim(); victim && i % 4 == 0) order->removed(*victim, Left::evicted);
            if (i % 1'000 == 0) order->set_capacity((1 + random() % 8) * GiB);
        }
        order->metadata_bytes();
    };
    std::vector<std::thread> threads;
    for (std::uint64_t thread = 1; thread <= 4; ++thread) threads.emplace_back(work, thread);
    for (auto& thread : threads) thread.join();
    EXPECT_LE(drain(*order, 2'000).size(), 2'000u);
}

}   // namespace
}   // namespace garner::store::disk
