#include "policy/s3fifo.hpp"

#include "policy/naive_queue.hpp"

namespace garner::policy {
namespace {

/// An exact FIFO of evicted objects.
class NaiveGhost {
public:
    void count(std::size_t count) { count_ = count; }
    void put(Slot slot) {
        queue_.remove(slot);
        queue_.push_front(slot);
        while (queue_.size() > count_) queue_.pop_back();
    }
    bool take(Slot slot) { return queue_.remove(slot) > 0; }

private:
    std::size_t count_ = 0;
    std::list<Slot> queue_;
};

/// The policy's own ghost; a separate test checks it.
class TheGhost {
public:
    void count(std::size_t count) { ghost_.count(count); }
    void put(Slot slot) { ghost_.put(Ghost::tag(slot)); }
    bool take(Slot slot) { return ghost_.take(Ghost::tag(slot)); }

private:
    Ghost ghost_;
};

template <class AnyGhost>
class NaiveS3Fifo : public NaiveSizes {
public:
    explicit NaiveS3Fifo(Bytes capacity) : capacity_(capacity) {}
    void inserted(Slot slot, Bytes size) {
        sizes_[slot] = size;
        uses_[slot] = 0;
        (ghost_.take(slot) ? main_ : small_).push_back(slot);
    }
    void hit(Slot slot) { uses_[slot] = std::min(uses_[slot] + 1, 3); }
    void resized(Slot slot, Bytes size) { sizes_[slot] = size; }
    void removed(Slot slot, Left why) {
        if (why == Left::evicted && in(small_, slot)) ghost_.count(main_.size()), ghost_.put(slot);
        small_.remove(slot), main_.remove(slot), sizes_.erase(slot);
    }
    Slot victim() {
        while (!sizes_.empty()) {
            auto capacity = static_cast<double>(capacity_ ? capacity_ : bytes(small_) + bytes(main_));
            bool full = static_cast<double>(bytes(small_)) >= 0.1 * capacity;
            if (main_.empty() || (full && !small_.empty())) {
                Slot slot = small_.front();
                if (uses_[slot] <= 1) return slot;
                uses_[slot] = 0;
                move_oldest(small_, main_);
            } else {
                Slot slot = main_.front();
                if (uses_[slot] == 0) return slot;
                --uses_[slot];
                move_oldest(main_, main_);
            }
        }
        return no_slot;
    }

private:
    Bytes capacity_;
    std::map<Slot, int> uses_;
    NaiveQueue small_, main_;
    AnyGhost ghost_;
};

TEST(S3Fifo, evicts_as_its_definition_says) {
    for (std::uint64_t seed : {1, 2, 3}) {
        // So few objects that the ghost is exact.
        NaiveS3Fifo<NaiveGhost> naive(2 * MiB);
        S3Fifo policy({.capacity = 2 * MiB});
        expect_the_victims_of(naive, policy, seed, 16);
    }
    for (Bytes capacity : {Bytes{0}, 100 * KiB, 20 * MiB}) {
        NaiveS3Fifo<TheGhost> naive(capacity);
        S3Fifo policy({.capacity = capacity});
        expect_the_victims_of(naive, policy, 4);
    }
}

TEST(S3Fifo, what_is_used_once_leaves_before_what_came_earlier_and_is_used) {
    S3Fifo policy({.capacity = 100});
    policy.inserted(0, 0, 10);
    policy.hit(0, 10);
    EXPECT_FALSE(policy.keeps(0));
    policy.hit(0, 10);
    EXPECT_TRUE(policy.keeps(0));
    for (Slot slot = 1; slot < 50; ++slot) {
        policy.inserted(slot, slot, 10);
        if (slot < 10) continue;
        Slot victim = policy.victim();
        EXPECT_EQ(victim, slot - 9);
        policy.removed(victim, Left::evicted);
    }
    EXPECT_TRUE(policy.keeps(0));
}

TEST(S3Fifo, what_comes_back_soon_enters_main) {
    S3Fifo policy({.capacity = 100});
    policy.inserted(0, 1000, 10);
    policy.hit(0, 10), policy.hit(0, 10);
    policy.inserted(1, 1001, 10);
    ASSERT_EQ(policy.victim(), 1u);   // 0 has moved to the main queue
    policy.removed(1, Left::evicted);
    policy.inserted(2, 1001, 10);   // the key counts, not the slot
    EXPECT_TRUE(policy.keeps(2));
    policy.removed(2, Left::purged);
    policy.inserted(2, 1001, 10);   // purged objects are not remembered
    EXPECT_FALSE(policy.keeps(2));
}

TEST(S3Fifo, needs_16_bytes_a_slot_and_8_for_the_ghost) {
    S3Fifo policy({.capacity = 100'000});
    for (Slot slot = 0; slot < 100'000; ++slot) policy.inserted(slot, slot, 1);
    for (Slot slot = 0; slot < 90'000; ++slot) policy.hit(slot, 1), policy.hit(slot, 1);
    for (std::uint64_t key = 100'000; key < 500'000; ++key) {
        Slot victim = policy.victim();
        policy.removed(victim, Left::evicted);
        policy.inserted(victim, key, 1);
    }
    EXPECT_LT(policy.metadata_bytes(), 100'000 * 24.5);
}

TEST(S3FifoDeathTest, stops_at_a_slot_that_is_not_held) {
    S3Fifo policy({});
    EXPECT_DEATH(policy.hit(0, 1), "broken invariant");
    EXPECT_DEATH(policy.removed(100'000, Left::purged), "broken invariant");
    policy.inserted(0, 0, 1);
    EXPECT_DEATH(policy.inserted(0, 0, 1), "broken invariant");
}

}   // namespace
}   // namespace garner::policy
