#include "util/units.hpp"

#include <gtest/gtest.h>

namespace garner {
namespace {

TEST(Units, sizes) {
    EXPECT_EQ(parse_size("64 MiB"), 64 * MiB);
    EXPECT_EQ(parse_size("64MiB"), 64 * MiB);
    EXPECT_EQ(parse_size("64 mib"), 64 * MiB);
    EXPECT_EQ(parse_size("10 GB"), 10'000'000'000u);
    EXPECT_EQ(parse_size("4096"), 4096u);
    EXPECT_EQ(parse_size("1KiB"), 1024u);
    EXPECT_EQ(parse_size("7 B"), 7u);
    EXPECT_EQ(parse_size("1.5 GiB"), GiB + GiB / 2);
    EXPECT_EQ(parse_size("0"), 0u);
    EXPECT_EQ(parse_size("9007199254740993"), 9007199254740993u);
}

TEST(Units, no_sizes) {
    for (char const* text : {"", "MiB", "64M", "-1", "+1", "1e6", "64 MiB/s", "1..5 MB", ".5 MB", "1. MB", "1.2.3 MB", "0x10",
                             "18446744073709551616", "16777216 TiB", "1 Mi B", "five"})
        EXPECT_FALSE(parse_size(text)) << text;
}

TEST(Units, times) {
    EXPECT_EQ(parse_time("300ms"), milliseconds{300});
    EXPECT_EQ(parse_time("2s"), milliseconds{2'000});
    EXPECT_EQ(parse_time("5m"), milliseconds{300'000});
    EXPECT_EQ(parse_time("1h"), milliseconds{3'600'000});
    EXPECT_EQ(parse_time("7d"), milliseconds{604'800'000});
    EXPECT_EQ(parse_time("1.5 h"), milliseconds{5'400'000});
    EXPECT_EQ(parse_time("0"), milliseconds{0});
    EXPECT_EQ(parse_time("0s"), milliseconds{0});
}

TEST(Units, no_times) {
    for (char const* text : {"", "5", "5 minutes", "-5s", "s", "1w", "99999999d", "5m 3s", "18446744073709551615d"})
        EXPECT_FALSE(parse_time(text)) << text;
}

TEST(Units, rates) {
    EXPECT_EQ(parse_rate("900 Mbit/s"), 112'500'000u);
    EXPECT_EQ(parse_rate("1 Gbit/s"), 125'000'000u);
    EXPECT_EQ(parse_rate("64 kbit/s"), 8'000u);
    EXPECT_EQ(parse_rate("12 MiB/s"), 12 * MiB);
    EXPECT_EQ(parse_rate("64 kB/s"), 64'000u);
    EXPECT_EQ(parse_rate("1.5MB/s"), 1'500'000u);
    EXPECT_EQ(parse_rate("4096"), 4096u);
    EXPECT_EQ(parse_rate("0"), 0u);
    for (char const* least : {"1 bit/s", "0.5 bit/s", "0.000001 B/s"})
        EXPECT_EQ(parse_rate(least), 1u) << least << ", not 0, which is no limit";
    for (char const* text : {"", "900 Mb/s", "900 Mbps", "900 Mbit", "12 MiB", "fast", "-1 Mbit/s", "12 mb/s", "1 Mbit/h"})
        EXPECT_FALSE(parse_rate(text)) << text;
    EXPECT_EQ(rate_text(112'500'000), "900 Mbit/s");
    EXPECT_EQ(rate_text(12 * MiB), "12 MiB/s");
    EXPECT_EQ(rate_text(100'000'000), "800 Mbit/s") << "in the same unit as 900 Mbit/s";
    EXPECT_EQ(rate_text(64'000), "512 kbit/s");
    EXPECT_EQ(rate_text(125 * 1'024), "1024 kbit/s");
    EXPECT_EQ(rate_text(3), "3 B/s");
    EXPECT_EQ(rate_text(0), "0");
    for (Bytes rate : {Bytes{1}, Bytes{999}, 64 * KiB, Bytes{112'500'000}, Bytes{1'234'567}})
        EXPECT_EQ(parse_rate(rate_text(rate)), rate) << rate_text(rate);
}

TEST(Units, the_shortest_text_parses_to_the_same) {
    for (Bytes size : {Bytes{0}, Bytes{1}, 1000 * KiB, 4 * MiB, GiB, Bytes{1'000'000}, Bytes{4097}, Bytes{1} << 62})
        EXPECT_EQ(parse_size(size_text(size)), size) << size_text(size);
    for (int time : {0, 1, 300, 1'000, 1'500, 60'000, 90'000, 86'400'000})
        EXPECT_EQ(parse_time(time_text(milliseconds{time})), milliseconds{time});
    EXPECT_EQ(size_text(256 * MiB), "256 MiB");
    EXPECT_EQ(size_text(4096), "4 KiB");
    EXPECT_EQ(time_text(milliseconds{300'000}), "5m");
    EXPECT_EQ(time_text(milliseconds{90'000}), "90s");
}

}   // namespace
}   // namespace garner
