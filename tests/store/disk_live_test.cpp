// The estimate of live bytes is accurate to a few percent, although only size classes of removed records are known.
#include "store/disk_live.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace garner::store::disk {
namespace {

TEST(DiskLive, records_that_are_alike_are_counted_to_the_byte) {
    LiveBytes live;
    for (int i = 0; i < 10; ++i) live.came(1'456);
    EXPECT_EQ(live.sum(), 14'560u);
    for (int i = 0; i < 4; ++i) live.left(size_of_class(size_class(1'456)));
    EXPECT_EQ(live.sum(), 6 * 1'456u);
    for (int i = 0; i < 6; ++i) live.left(1'456);
    EXPECT_EQ(live.sum(), 0u);
}

TEST(DiskLive, of_any_sizes_the_sum_is_right_to_two_percent_and_in_the_end_to_the_byte) {
    LiveBytes live;
    std::mt19937_64 random(1);
    std::vector<Bytes> there;
    Bytes sum = 0;
    for (int step = 0; step < 200'000; ++step) {
        if (there.size() < 20'000 || random() % 2) {
            Bytes const bytes = (1 + std::min(random() % 1'000, random() % 1'000)) * 16 + 160;
            live.came(bytes);
            sum += bytes;
            there.push_back(bytes);
        } else {
            std::swap(there[random() % there.size()], there.back());
            live.left(size_of_class(size_class(there.back())));
            sum -= there.back();
            there.pop_back();
        }
        if (there.size() >= 20'000) {
            ASSERT_NEAR(static_cast<double>(live.sum()), static_cast<double>(sum), 0.02 * static_cast<double>(sum));
        }
    }
    for (auto const bytes : there) live.left(bytes);
    EXPECT_EQ(live.sum(), 0u);
}

TEST(DiskLive, several_that_come_together_count_as_one_after_the_other) {
    LiveBytes one_by_one, at_once;
    LiveBytes::Sum sum;
    for (Bytes bytes = 16; bytes < 300 * KiB; bytes += bytes / 3 / 16 * 16 + 16) {
        one_by_one.came(bytes);
        sum.add(bytes);
    }
    at_once.came(sum);
    EXPECT_EQ(at_once.sum(), one_by_one.sum());
    for (Bytes bytes : {16, 1'008, 100'000}) {
        one_by_one.left(bytes);
        at_once.left(bytes);
        EXPECT_EQ(at_once.sum(), one_by_one.sum());
    }
}

TEST(DiskLive, one_that_leaves_before_it_was_told_that_it_came_does_no_harm) {
    LiveBytes live;
    live.left(1'456);
    live.came(1'456);
    EXPECT_LE(live.sum(), 1'456u);
    live.came(1'456);
    live.left(1'456);
    EXPECT_EQ(live.sum(), 0u);
}

}   // namespace
}   // namespace garner::store::disk
