#include "policy/fifo.hpp"

#include "policy/naive_queue.hpp"

namespace garner::policy {
namespace {

class NaiveFifo : public NaiveSizes {
public:
    void inserted(Slot slot, Bytes size) { sizes_[slot] = size, queue_.push_back(slot); }
    void hit(Slot) {}
    void resized(Slot slot, Bytes size) { sizes_[slot] = size; }
    void removed(Slot slot, Left) { sizes_.erase(slot), queue_.remove(slot); }
    Slot victim() { return queue_.empty() ? no_slot : queue_.front(); }

private:
    NaiveQueue queue_;
};

TEST(Fifo, evicts_as_its_definition_says) {
    NaiveFifo naive;
    Fifo fifo({});
    expect_the_victims_of(naive, fifo, 1);
}

TEST(Fifo, a_hit_saves_nobody) {
    Fifo fifo({});
    for (Slot slot : {5u, 3u, 4u}) fifo.inserted(slot, slot, 1);
    fifo.hit(5, 1);
    EXPECT_EQ(fifo.victim(), 5u);
    fifo.removed(3, Left::purged);
    fifo.removed(5, Left::evicted);
    EXPECT_EQ(fifo.victim(), 4u);
}

TEST(Fifo, needs_eight_bytes_a_slot) {
    Fifo fifo({});
    for (Slot slot = 0; slot < 100'000; ++slot) fifo.inserted(slot, slot, 1);
    EXPECT_LT(fifo.metadata_bytes(), 100'000 * 8.4);
}

TEST(FifoDeathTest, stops_at_a_slot_that_is_not_held) {
    Fifo fifo({});
    EXPECT_DEATH(fifo.hit(0, 1), "broken invariant");
    EXPECT_DEATH(fifo.removed(100'000, Left::purged), "broken invariant");
    fifo.inserted(0, 0, 1);
    EXPECT_DEATH(fifo.inserted(0, 0, 1), "broken invariant");
}

}   // namespace
}   // namespace garner::policy
