#include "policy/sampled_lru.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "policy/lru.hpp"
#include "policy/replay.hpp"
#include "policy/sketch.hpp"

namespace garner::policy {
namespace {

TEST(SampledLru, with_an_entry_for_each_object_is_LRU) {
    SampledLru cache(30, 3);
    int misses = 0;
    for (std::uint32_t tag : {1, 2, 3, 1, 4, 2, 1}) misses += !cache.request(tag, 11, 33);
    EXPECT_EQ(misses, 5);                     // misses: 1 2 3, 4 for 2, 2 for 3
    EXPECT_FALSE(cache.request(9, 34, 33));   // larger than the cache
    EXPECT_TRUE(cache.request(1, 11, 33));
    EXPECT_FALSE(cache.request(7, 11, 22));   // less room
    EXPECT_TRUE(cache.request(1, 11, 22));
    EXPECT_FALSE(cache.request(2, 11, 22));
}

TEST(SampledLru, finds_all_it_holds_whatever_left_before) {
    SampledLru cache(100'000, 100);
    std::mt19937 random(1);
    std::vector<std::uint32_t> asked;
    for (int i = 0; i < 20'000; ++i) {
        asked.push_back(random() % 1000 * 0x10001);
        cache.request(asked.back(), 1, 100'000);
        // The last fifty keys are held.
        ASSERT_TRUE(cache.request(asked[asked.size() - 1 - random() % std::min<std::size_t>(45, asked.size())], 1, 100'000));
    }
}

TEST(SampledLru, samples_so_that_bytes_are_estimated_rightly) {
    SampledLru const cache(1'000'000, 100);   // a grain of 10,001 bytes
    std::mt19937_64 random(7);
    for (Bytes size : {Bytes{20}, Bytes{1'000}, Bytes{9'000}, Bytes{10'001}, Bytes{700'000}}) {
        double bytes = 0;
        constexpr int keys = 400'000;
        for (int i = 0; i < keys; ++i)
            if (cache.wants(random(), size)) bytes += cache.bytes_for(size);
        EXPECT_NEAR(bytes / keys / static_cast<double>(size), 1, 0.15);
        if (size > 10'000) EXPECT_EQ(bytes, keys * static_cast<double>(size));
    }
}

TEST(SampledLru, estimates_the_missed_bytes_of_LRU_for_sizes_of_six_powers_of_ten) {
    constexpr Bytes capacity = 2 * GiB;
    Lru policy({});
    Replay real(policy, capacity);
    SampledLru sample(capacity, 768);
    auto const memory = sample.metadata_bytes();
    std::mt19937_64 random(3);
    double missed = 0;
    for (int i = 0; i < 100'000; ++i) {
        auto const share = static_cast<double>(random() >> 11) * 0x1p-53;
        auto const key = static_cast<std::uint64_t>(3000 * share * share * share) * 0xd6e8'feb8'6659'fd93;
        auto const size = static_cast<Bytes>(std::ldexp(1024, static_cast<int>(key >> 20) % 20));
        real.request(key, size);
        if (sample.wants(key, size) && !sample.request(Sketch::tag(key), size, capacity)) missed += sample.bytes_for(size);
    }
    EXPECT_NEAR(missed / static_cast<double>(real.missed_bytes), 1, 0.03);
    EXPECT_EQ(sample.metadata_bytes(), memory);
}

}   // namespace
}   // namespace garner::policy
