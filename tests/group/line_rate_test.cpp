// The rate of a line, measured by transfers.
#include "group/line_rate.hpp"

#include <gtest/gtest.h>

namespace garner::group {
namespace {

constexpr std::uint64_t megabyte = 1'000'000;

/// Transfers of 10 MB at this rate.
void add_transfers(LineRate& line, std::uint64_t rate, std::size_t times) {
    for (std::size_t i = 0; i < times; ++i) line.add(10 * megabyte, microseconds(10 * megabyte * megabyte / rate));
}

TEST(LineRate, is_known_after_eight_transfers_and_is_nearly_the_best_of_them) {
    LineRate line;
    add_transfers(line, megabyte, LineRate::needed - 1);
    EXPECT_EQ(line.p90(), 0u);
    add_transfers(line, megabyte, 37);
    add_transfers(line, 5 * megabyte, 16);
    add_transfers(line, 100 * megabyte, 4);
    EXPECT_EQ(line.p90(), 5 * megabyte);
}

TEST(LineRate, counts_no_transfer_that_says_nothing_about_the_line) {
    LineRate line;
    for (int i = 0; i < 100; ++i) {
        line.add(LineRate::bytes_least - 1, microseconds(1));
        line.add(10 * megabyte, microseconds(0));
        line.add(10 * megabyte, microseconds(-1));
        line.add(UINT64_MAX, microseconds(1));
        line.add(10 * megabyte, microseconds(1));   // 10 TB/s
    }
    EXPECT_EQ(line.p90(), 0u);
    add_transfers(line, megabyte, LineRate::needed);
    EXPECT_EQ(line.p90(), megabyte);
}

TEST(LineRate, forgets_old_transfers) {
    LineRate line;
    add_transfers(line, 100 * megabyte, 1'000);
    EXPECT_EQ(line.p90(), 100 * megabyte);
    add_transfers(line, megabyte, LineRate::kept);
    EXPECT_EQ(line.p90(), megabyte) << "the line has become slower";
}

TEST(LineRate, is_told_when_it_differs_by_a_quarter) {
    EXPECT_FALSE(is_other_rate(0, 0));
    EXPECT_TRUE(is_other_rate(0, 1));
    EXPECT_FALSE(is_other_rate(100, 80));
    EXPECT_FALSE(is_other_rate(80, 100));
    EXPECT_TRUE(is_other_rate(100, 70));
    EXPECT_TRUE(is_other_rate(70, 100));
    EXPECT_TRUE(is_other_rate(UINT64_MAX, 1));
}

}   // namespace
}   // namespace garner::group
