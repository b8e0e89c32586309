// Dropped log lines by client and status.
#include "proxy/dropped_lines.hpp"

#include <gtest/gtest.h>

namespace garner::proxy {
namespace {

TEST(DroppedLines, the_client_and_status_with_most_come_first) {
    DroppedLines dropped;
    EXPECT_TRUE(dropped.largest(3).empty());
    dropped.add("10.0.0.1", 200);
    for (int i = 0; i < 3; ++i) dropped.add("10.0.0.2", 403);
    dropped.add("10.0.0.2", 200);
    auto const all = dropped.largest(2);
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].client, "10.0.0.2");
    EXPECT_EQ(all[0].status, 403);
    EXPECT_EQ(all[0].lines, 3u);
}

TEST(DroppedLines, clients_beyond_the_table_are_counted_together) {
    DroppedLines dropped;
    for (int i = 0; i < 1000; ++i) dropped.add("client " + std::to_string(i), 200);
    EXPECT_EQ(dropped.largest(1)[0].client, "-");
    std::uint64_t lines = 0;
    for (auto const& count : dropped.largest(1000)) lines += count.lines;
    EXPECT_EQ(lines, 1000u);
}

}   // namespace
}   // namespace garner::proxy
