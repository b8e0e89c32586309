// Blocks are used again by the thread that keeps them, in bounded number, and by no other thread.
#include "util/recycled_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>
#include <vector>

namespace garner {
namespace {

TEST(RecycledMemory, a_block_is_used_again_for_another_of_its_size) {
    RecycledMemory memory;
    auto* const first = RecycledMemory::take(200);
    auto* const other = RecycledMemory::take(40);
    EXPECT_NE(first, other);
    RecycledMemory::give_back(first, 200);
    RecycledMemory::give_back(other, 40);
    EXPECT_EQ(RecycledMemory::take(193), first) << "both need 256 bytes";
    EXPECT_EQ(RecycledMemory::take(64), other);
    RecycledMemory::give_back(first, 193);
    RecycledMemory::give_back(other, 64);
}

TEST(RecycledMemory, blocks_do_not_overlap) {
    RecycledMemory memory;
    std::vector<std::size_t> const sizes{1, 63, 64, 65, 1'000, 2'048, 2'049, 100'000};
    for (int round = 0; round < 3; ++round) {
        std::vector<char*> blocks;
        for (auto const size : sizes) {
            blocks.push_back(static_cast<char*>(RecycledMemory::take(size)));
            std::fill_n(blocks.back(), size, static_cast<char>(blocks.size()));
        }
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            EXPECT_EQ(blocks[i][0], static_cast<char>(i + 1));
            EXPECT_EQ(blocks[i][sizes[i] - 1], static_cast<char>(i + 1));
            RecycledMemory::give_back(blocks[i], sizes[i]);
        }
    }
}

TEST(RecycledMemory, keeps_32_of_a_size) {
    RecycledMemory memory;
    std::set<void*> given;
    std::vector<void*> blocks;
    for (int i = 0; i < 40; ++i) blocks.push_back(RecycledMemory::take(100));
    for (auto* block : blocks) RecycledMemory::give_back(block, 100);
    for (int i = 0; i < 32; ++i) given.insert(blocks[static_cast<std::size_t>(i)]);
    blocks.clear();
    for (int i = 0; i < 32; ++i) {
        blocks.push_back(RecycledMemory::take(100));
        EXPECT_TRUE(given.contains(blocks.back()));
    }
    for (auto* block : blocks) RecycledMemory::give_back(block, 100);
}

TEST(RecycledMemory, a_block_may_end_on_another_thread) {
    RecycledMemory memory;
    auto* const block = RecycledMemory::take(100);
    std::thread([&] { RecycledMemory::give_back(block, 100); }).join();   // this thread keeps nothing
    void* of_other = nullptr;
    std::thread([&] { of_other = RecycledMemory::take(100); }).join();
    RecycledMemory::give_back(of_other, 100);
    EXPECT_EQ(RecycledMemory::take(100), of_other);
    RecycledMemory::give_back(of_other, 100);
}

}   // namespace
}   // namespace garner
