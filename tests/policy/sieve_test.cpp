#include "policy/sieve.hpp"

#include <set>

#include "policy/naive_queue.hpp"

namespace garner::policy {
namespace {

class NaiveSieve : public NaiveSizes {
public:
    void inserted(Slot slot, Bytes size) { sizes_[slot] = size, queue_.push_back(slot); }
    void hit(Slot slot) { used_.insert(slot); }
    void resized(Slot slot, Bytes size) { sizes_[slot] = size; }
    void removed(Slot slot, Left) {
        sizes_.erase(slot);
        used_.erase(slot);
        auto place = std::ranges::find(queue_, slot);
        bool const hand_is_here = place == hand_;
        place = queue_.erase(place);
        if (hand_is_here) hand_ = place;
    }
    Slot victim() {
        if (queue_.empty()) return no_slot;
        for (;; ++hand_) {
            if (hand_ == queue_.end()) hand_ = queue_.begin();
            if (used_.erase(*hand_) == 0) return *hand_;
        }
    }

private:
    std::set<Slot> used_;
    NaiveQueue queue_;
    NaiveQueue::iterator hand_ = queue_.end();
};

TEST(Sieve, evicts_as_its_definition_says) {
    for (std::uint64_t seed : {1, 2}) {
        NaiveSieve naive;
        Sieve sieve({});
        expect_the_victims_of(naive, sieve, seed);
    }
}

TEST(Sieve, the_hand_keeps_its_place) {
    Sieve sieve({});
    for (Slot slot = 0; slot < 4; ++slot) sieve.inserted(slot, slot, 1);
    sieve.hit(0, 1);
    sieve.hit(1, 1);
    EXPECT_EQ(sieve.victim(), 2u);   // 0 and 1 are unmarked but behind the hand
    sieve.removed(2, Left::evicted);
    sieve.inserted(4, 4, 1);
    for (Slot expected : {3u, 4u, 0u, 1u}) {
        EXPECT_EQ(sieve.victim(), expected);
        sieve.removed(expected, Left::evicted);
    }
}

TEST(Sieve, keeps_what_was_used_since_the_hand_passed) {
    Sieve sieve({});
    sieve.inserted(0, 0, 1);
    sieve.inserted(1, 1, 1);
    sieve.hit(0, 1);
    EXPECT_TRUE(sieve.keeps(0));
    EXPECT_FALSE(sieve.keeps(1));
    EXPECT_EQ(sieve.victim(), 1u);
    EXPECT_FALSE(sieve.keeps(0));
}

TEST(Sieve, needs_nine_bytes_a_slot) {
    Sieve sieve({});
    for (Slot slot = 0; slot < 100'000; ++slot) sieve.inserted(slot, slot, 1);
    EXPECT_LT(sieve.metadata_bytes(), 100'000 * 9.6);
}

TEST(SieveDeathTest, stops_at_a_slot_that_is_not_held) {
    Sieve sieve({});
    EXPECT_DEATH(sieve.hit(0, 1), "broken invariant");
    EXPECT_DEATH(sieve.removed(100'000, Left::purged), "broken invariant");
}

}   // namespace
}   // namespace garner::policy
