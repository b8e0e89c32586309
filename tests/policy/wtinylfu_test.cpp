#include "policy/wtinylfu.hpp"

#include "policy/naive_queue.hpp"

namespace garner::policy {
namespace {

/// Uses the policy's own sketch, which a separate test checks.
class NaiveWTinyLfu : public NaiveSizes {
public:
    explicit NaiveWTinyLfu(Bytes capacity) : capacity_(capacity) {}
    void requested(Slot slot) { sketch_.add(tag(slot)); }
    bool admits(Slot slot, Bytes size, Bytes need) {
        expected_ = size <= window_most() ? size : 0;
        return size <= window_most() || outweighs(slot, need);
    }
    void inserted(Slot slot, Bytes size) {
        expected_ = 0;
        sizes_[slot] = size;
        held_most_ = std::max(held_most_, sizes_.size());
        sketch_.cover(held_most_);
        (size > window_most() ? probation_ : window_).push_back(slot);
        while (bytes(window_) > window_most() && main_bytes() + size_of_oldest() <= capacity() - window_most())
            move_oldest(window_, probation_);
    }
    void hit(Slot slot) {
        probation_.remove(slot);
        to_newest(in(window_, slot) ? window_ : protected_, slot);
        send_back();
    }
    void resized(Slot slot, Bytes size) { sizes_[slot] = size, send_back(); }
    void removed(Slot slot, Left) { window_.remove(slot), probation_.remove(slot), protected_.remove(slot), sizes_.erase(slot); }
    Slot victim() {
        while (!window_.empty() && bytes(window_) + expected_ > window_most()) {
            if (!outweighs(window_.front(), size_of_oldest())) return window_.front();
            move_oldest(window_, probation_);
        }
        auto main = main_in_order();
        if (!main.empty()) return main.front();
        return window_.empty() ? no_slot : window_.front();
    }

private:
    static Sketch::Tag tag(Slot slot) { return Sketch::tag(slot) & ((1u << 30) - 1); }
    Bytes capacity() const { return capacity_ ? capacity_ : bytes(window_) + main_bytes(); }
    Bytes window_most() const { return static_cast<Bytes>(0.01 * static_cast<double>(capacity())); }
    Bytes main_bytes() const { return bytes(probation_) + bytes(protected_); }
    Bytes size_of_oldest() const { return size(window_.front()); }
    NaiveQueue main_in_order() const {
        auto all = probation_;
        all.insert(all.end(), protected_.begin(), protected_.end());
        return all;
    }
    bool outweighs(Slot candidate, Bytes room) const {
        std::uint32_t sum = 0;
        Bytes freed = 0;
        for (Slot slot : main_in_order()) {
            if (freed >= room) break;
            sum += sketch_.estimate(tag(slot));
            freed += size(slot);
        }
        return sketch_.estimate(tag(candidate)) > sum;
    }
    void send_back() {
        while (bytes(protected_) > (capacity() - window_most()) / 5 * 4) move_oldest(protected_, probation_);
    }

    Bytes capacity_;
    Bytes expected_ = 0;
    NaiveQueue window_, probation_, protected_;
    std::size_t held_most_ = 0;
    Sketch sketch_{{.counters = 8, .sample = 10}};
};

TEST(WTinyLfu, evicts_and_admits_as_its_definition_says) {
    for (std::uint64_t seed : {1, 2})
        for (Bytes capacity : {Bytes{0}, 100 * KiB, 10 * MiB}) {
            NaiveWTinyLfu naive(capacity);
            WTinyLfu policy({.capacity = capacity});
            expect_the_victims_of(naive, policy, seed);
        }
}

class AFullWTinyLfu : public testing::Test {
protected:
    /// 99 objects in main, each requested four times, and one in the window, requested once.
    AFullWTinyLfu() {
        for (Slot slot = 0; slot < 100; ++slot) {
            for (int i = 0; i < (slot < 99 ? 4 : 1); ++i) policy.requested(slot);
            policy.inserted(slot, slot, 10);
        }
    }
    /// Inserts a newcomer that was requested `uses` times, and returns its victim.
    Slot victim_of_newcomer(Slot slot, int uses) {
        for (int i = 0; i < uses; ++i) policy.requested(slot);
        EXPECT_TRUE(policy.admits(slot, 10, 10));
        Slot victim = policy.victim();
        policy.removed(victim, Left::evicted);
        policy.inserted(slot, slot, 10);
        return victim;
    }
    WTinyLfu policy{{.capacity = 1000}};
};

TEST_F(AFullWTinyLfu, a_scan_passes_through_the_window_alone) {
    for (Slot slot = 100; slot < 150; ++slot) EXPECT_EQ(victim_of_newcomer(slot, 1), slot - 1);
}

TEST_F(AFullWTinyLfu, what_is_asked_for_more_often_than_the_next_victim_comes_into_main) {
    EXPECT_EQ(victim_of_newcomer(100, 12), 99u);
    EXPECT_EQ(victim_of_newcomer(101, 1), 0u);
    EXPECT_EQ(victim_of_newcomer(102, 1), 101u);
}

TEST_F(AFullWTinyLfu, a_large_newcomer_must_outweigh_all_that_it_would_push_out) {
    for (int i = 0; i < 15; ++i) policy.requested(200);
    EXPECT_TRUE(policy.admits(200, 20, 20));    // 15 against 2 * 4, or a little more, because the sketch estimates
    EXPECT_FALSE(policy.admits(200, 40, 40));   // 15 against 4 * 4
    EXPECT_TRUE(policy.admits(200, 40, 20));    // part of the space was free
    EXPECT_TRUE(policy.admits(201, 10, 10));    // the window admits everything
}

TEST_F(AFullWTinyLfu, keeps_what_was_used_in_main) {
    EXPECT_FALSE(policy.keeps(0));
    policy.hit(0, 10);
    EXPECT_TRUE(policy.keeps(0));
    policy.hit(99, 10);
    EXPECT_FALSE(policy.keeps(99));   // still in the window
}

TEST(WTinyLfu, needs_16_bytes_a_slot_and_8_for_the_sketch) {
    WTinyLfu policy({});
    for (Slot slot = 0; slot < 100'000; ++slot) policy.inserted(slot, slot, 1);
    EXPECT_LT(policy.metadata_bytes(), 100'000 * 24.5);
}

TEST(WTinyLfuDeathTest, stops_at_a_slot_that_is_not_held) {
    WTinyLfu policy({});
    EXPECT_DEATH(policy.hit(0, 1), "broken invariant");
    EXPECT_DEATH(policy.removed(100'000, Left::purged), "broken invariant");
    policy.inserted(0, 0, 1);
    EXPECT_DEATH(policy.inserted(0, 0, 1), "broken invariant");
}

}   // namespace
}   // namespace garner::policy
