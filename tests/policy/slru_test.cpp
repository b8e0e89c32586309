#include "policy/slru.hpp"

#include "policy/naive_queue.hpp"

namespace garner::policy {
namespace {

class NaiveSlru : public NaiveSizes {
public:
    NaiveSlru(double share, Bytes capacity) : share_(share), capacity_(capacity) {}
    void inserted(Slot slot, Bytes size) { sizes_[slot] = size, probation_.push_back(slot); }
    void hit(Slot slot) {
        probation_.remove(slot);
        to_newest(protected_, slot);
        send_back();
    }
    void resized(Slot slot, Bytes size) { sizes_[slot] = size, send_back(); }
    void removed(Slot slot, Left) { probation_.remove(slot), protected_.remove(slot), sizes_.erase(slot); }
    Slot victim() {
        if (!probation_.empty()) return probation_.front();
        return protected_.empty() ? no_slot : protected_.front();
    }

private:
    void send_back() {
        auto capacity = capacity_ ? capacity_ : bytes(probation_) + bytes(protected_);
        auto most = static_cast<Bytes>(share_ * static_cast<double>(capacity));
        while (bytes(protected_) > most) move_oldest(protected_, probation_);
    }

    double share_;
    Bytes capacity_;
    NaiveQueue probation_, protected_;
};

TEST(Slru, evicts_as_its_definition_says) {
    for (Bytes capacity : {Bytes{0}, 100 * KiB, 8 * MiB}) {
        NaiveSlru naive(0.8, capacity);
        Slru slru({.capacity = capacity});
        expect_the_victims_of(naive, slru, 1);
    }
    NaiveSlru naive(0.5, 8 * MiB);
    Slru slru({.capacity = 8 * MiB, .values = {0.5}});
    expect_the_victims_of(naive, slru, 2);
}

TEST(Slru, what_was_used_again_outlives_a_scan) {
    Slru slru({.capacity = 100});
    slru.inserted(0, 0, 10);
    slru.hit(0, 10);
    EXPECT_TRUE(slru.keeps(0));
    for (Slot slot = 1; slot < 50; ++slot) {
        slru.inserted(slot, slot, 10);
        EXPECT_FALSE(slru.keeps(slot));
        if (slot < 10) continue;
        Slot victim = slru.victim();
        EXPECT_EQ(victim, slot - 9);
        slru.removed(victim, Left::evicted);
    }
}

TEST(Slru, sends_the_least_recently_used_of_the_protected_back) {
    Slru slru({.capacity = 100});
    for (Slot slot : {0u, 1u, 2u}) slru.inserted(slot, slot, 40);
    for (Slot slot : {0u, 1u, 2u}) slru.hit(slot, 40);
    EXPECT_EQ(slru.victim(), 0u);
    slru.set_capacity(60);
    slru.hit(2, 40);
    EXPECT_FALSE(slru.keeps(1));
    EXPECT_TRUE(slru.keeps(2));
    EXPECT_EQ(slru.victim(), 0u);
}

TEST(Slru, counts_huge_ones_in_and_out_alike) {
    Slru slru({.capacity = 100 * GiB});
    slru.inserted(0, 0, 50 * GiB);
    slru.hit(0, 50 * GiB);
    slru.resized(0, 60 * GiB);
    slru.removed(0, Left::purged);
    slru.inserted(1, 1, 1);
    slru.hit(1, 1);
    EXPECT_TRUE(slru.keeps(1));
}

TEST(Slru, needs_12_bytes_a_slot) {
    Slru slru({});
    for (Slot slot = 0; slot < 100'000; ++slot) slru.inserted(slot, slot, 1);
    EXPECT_LT(slru.metadata_bytes(), 100'000 * 12.6);
}

TEST(SlruDeathTest, stops_at_a_slot_that_is_not_held) {
    Slru slru({});
    EXPECT_DEATH(slru.hit(0, 1), "broken invariant");
    EXPECT_DEATH(slru.removed(100'000, Left::purged), "broken invariant");
    slru.inserted(0, 0, 1);
    EXPECT_DEATH(slru.inserted(0, 0, 1), "broken invariant");
}

}   // namespace
}   // namespace garner::policy
