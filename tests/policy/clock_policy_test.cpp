#include "policy/clock_policy.hpp"

#include "policy/naive_queue.hpp"

namespace garner::policy {
namespace {

class NaiveClock : public NaiveSizes {
public:
    explicit NaiveClock(int most_uses) : most_uses_(most_uses) {}
    void inserted(Slot slot, Bytes size) { sizes_[slot] = size, uses_[slot] = 0, queue_.push_back(slot); }
    void hit(Slot slot) { uses_[slot] = std::min(uses_[slot] + 1, most_uses_); }
    void resized(Slot slot, Bytes size) { sizes_[slot] = size; }
    void removed(Slot slot, Left) { sizes_.erase(slot), queue_.remove(slot); }
    Slot victim() {
        for (; !queue_.empty(); move_oldest(queue_, queue_))
            if (uses_[queue_.front()]-- == 0) return uses_[queue_.front()] = 0, queue_.front();
        return no_slot;
    }

private:
    int most_uses_;
    std::map<Slot, int> uses_;
    NaiveQueue queue_;
};

TEST(Clock, evicts_as_its_definition_says) {
    for (int bits : {1, 2, 3}) {
        NaiveClock naive((1 << bits) - 1);
        Clock clock({.values = {static_cast<double>(bits)}});
        expect_the_victims_of(naive, clock, 1);
    }
}

TEST(Clock, gives_a_used_one_another_turn_for_each_use_it_counts) {
    for (int bits : {1, 2}) {
        Clock clock({.values = {static_cast<double>(bits)}});
        for (Slot slot : {0u, 1u, 2u}) clock.inserted(slot, slot, 1);
        for (int i = 0; i < 9; ++i) clock.hit(0, 1);
        clock.hit(1, 1);
        EXPECT_EQ(clock.victim(), 2u);
        EXPECT_EQ(clock.keeps(0), bits == 2);
        EXPECT_FALSE(clock.keeps(1));
        clock.removed(2, Left::evicted);
        EXPECT_EQ(clock.victim(), bits == 1 ? 0u : 1u);
    }
}

TEST(Clock, needs_nine_bytes_a_slot) {
    Clock clock({});
    for (Slot slot = 0; slot < 100'000; ++slot) clock.inserted(slot, slot, 1);
    EXPECT_LT(clock.metadata_bytes(), 100'000 * 9.6);
}

TEST(ClockDeathTest, stops_at_a_slot_that_is_not_held) {
    Clock clock({});
    EXPECT_DEATH(clock.hit(0, 1), "broken invariant");
    EXPECT_DEATH(clock.removed(100'000, Left::purged), "broken invariant");
}

}   // namespace
}   // namespace garner::policy
