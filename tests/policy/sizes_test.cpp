#include "policy/sizes.hpp"

#include <gtest/gtest.h>

namespace garner::policy {
namespace {

constexpr Bytes four_gib = 4 * GiB - 1;

TEST(Sizes, are_kept_up_to_four_gigabytes) {
    Sizes sizes(false);
    sizes.cover(3);
    sizes.set(3, 123'456'789);
    EXPECT_EQ(sizes[3], 123'456'789u);
    EXPECT_EQ(sizes[2], 0u);
    sizes.set(2, 5 * GiB);
    EXPECT_EQ(sizes[2], four_gib);
}

TEST(Sizes, that_are_lean_are_rounded_down_by_a_2048th_at_most) {
    Sizes sizes(true);
    sizes.cover(0);
    for (Bytes size = 0; size <= four_gib; size += 1 + size / 3'000) {
        sizes.set(0, size);
        ASSERT_LE(sizes[0], size);
        ASSERT_GE(sizes[0], size - size / 2'048) << size;
    }
    for (Bytes size : {Bytes{2'047}, Bytes{2'048}, 64 * KiB, 1 * GiB}) {
        sizes.set(0, size);
        EXPECT_EQ(sizes[0], size);
    }
    sizes.set(0, UINT64_MAX);
    EXPECT_GE(sizes[0], four_gib - four_gib / 2'048);
    EXPECT_LE(sizes.metadata_bytes(), 64 * 2u + 64);
}

}   // namespace
}   // namespace garner::policy
