#include "admin/human.hpp"

#include <gtest/gtest.h>

namespace garner::admin {
namespace {

TEST(Human, counts_have_separators) {
    EXPECT_EQ(human_count(0), "0");
    EXPECT_EQ(human_count(999), "999");
    EXPECT_EQ(human_count(1'000), "1,000");
    EXPECT_EQ(human_count(1'234'567), "1,234,567");
    EXPECT_EQ(human_count(UINT64_MAX), "18,446,744,073,709,551,615");
}

TEST(Human, short_counts_take_five_columns) {
    EXPECT_EQ(human_short(0), "0");
    EXPECT_EQ(human_short(999), "999");
    EXPECT_EQ(human_short(1'234), "1.23k");
    EXPECT_EQ(human_short(999'499), "999k");
    EXPECT_EQ(human_short(999'500), "1.00M");
    EXPECT_EQ(human_short(UINT64_MAX), "18.4E");
}

TEST(Human, columns_are_characters) {
    EXPECT_EQ(columns(""), 0u);
    EXPECT_EQ(columns("17 µs…"), 6u);
}

TEST(Human, bytes_have_three_digits_and_a_unit) {
    EXPECT_EQ(human_bytes(0), "0 B");
    EXPECT_EQ(human_bytes(1'023), "1023 B");
    EXPECT_EQ(human_bytes(1'024), "1.00 KiB");
    EXPECT_EQ(human_bytes(1'536), "1.50 KiB");
    EXPECT_EQ(human_bytes(10'240), "10.0 KiB");
    EXPECT_EQ(human_bytes(256ull << 20), "256 MiB");
    EXPECT_EQ(human_bytes((1ull << 20) - 1), "1.00 MiB");
    EXPECT_EQ(human_bytes(UINT64_MAX), "16.0 EiB");
}

TEST(Human, times_go_from_microseconds_to_seconds) {
    EXPECT_EQ(human_micros(0), "0 µs");
    EXPECT_EQ(human_micros(999), "999 µs");
    EXPECT_EQ(human_micros(1'250), "1.25 ms");
    EXPECT_EQ(human_micros(999'499), "999 ms");
    EXPECT_EQ(human_micros(999'500), "1.00 s");
    EXPECT_EQ(human_micros(61'000'000), "61.0 s");
}

TEST(Human, shares_are_per_cent_or_a_dash) {
    EXPECT_EQ(human_share(std::nullopt), "-");
    EXPECT_EQ(human_share(0.0), "0.0 %");
    EXPECT_EQ(human_share(0.8768), "87.7 %");
    EXPECT_EQ(human_share(1.0), "100.0 %");
}

TEST(Human, longer_times_have_two_units) {
    EXPECT_EQ(human_seconds(-1), "0 s");
    EXPECT_EQ(human_seconds(59.9), "59 s");
    EXPECT_EQ(human_seconds(185), "3 min 5 s");
    EXPECT_EQ(human_seconds(7'800), "2 h 10 min");
    EXPECT_EQ(human_seconds(86'400 * 5 + 3 * 3'600 + 59), "5 d 3 h");
}

}   // namespace
}   // namespace garner::admin
