#include "icp/origin_times.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace garner::icp {
namespace {

constexpr SteadyTime start{seconds{100'000}};

std::string host(std::size_t number) { return "h" + std::to_string(number) + ".example"; }

TEST(OriginTimes, knows_nothing_of_strangers) {
    OriginTimes times;
    auto const known = times.find("a.example", start);
    EXPECT_FALSE(known.rtt);
    EXPECT_FALSE(known.throughput);
    EXPECT_EQ(times.size(), 0u) << "a lookup makes no entry";
}

TEST(OriginTimes, follow_what_is_measured_by_an_eighth) {
    OriginTimes times;
    times.connected("a.example", microseconds{800}, start);
    EXPECT_EQ(times.find("a.example", start).rtt, microseconds{800});
    times.connected("a.example", microseconds{1'600}, start);
    EXPECT_EQ(times.find("a.example", start).rtt, microseconds{900});
    EXPECT_FALSE(times.find("b.example", start).rtt);
}

TEST(OriginTimes, take_throughput_from_large_bodies_only) {
    OriginTimes times;
    times.fetched("a.example", 64 * KiB - 1, seconds{1}, start);
    times.fetched("a.example", 64 * KiB, microseconds{0}, start);
    EXPECT_EQ(times.size(), 0u);
    times.fetched("a.example", 1'000'000, milliseconds{500}, start);
    EXPECT_DOUBLE_EQ(*times.find("a.example", start).throughput, 2e6);
    EXPECT_FALSE(times.find("a.example", start).rtt);
}

TEST(OriginTimes, say_nothing_when_they_are_too_old_and_begin_anew) {
    OriginTimes times;
    times.connected("a.example", microseconds{800}, start);
    EXPECT_TRUE(times.find("a.example", start + OriginTimes::valid).rtt);
    auto const late = start + OriginTimes::valid + milliseconds{1};
    EXPECT_FALSE(times.find("a.example", late).rtt);
    times.connected("a.example", microseconds{80}, late);
    EXPECT_EQ(times.find("a.example", late).rtt, microseconds{80}) << "without the old ones";
}

TEST(OriginTimes, hold_so_many_hosts_at_most_and_lose_the_longest_unused) {
    OriginTimes times;
    times.connected("kept.example", microseconds{7}, start);
    for (std::size_t i = 0; i < OriginTimes::hosts_max * 3 / 2; ++i) {
        times.connected(host(i), microseconds{5}, start);
        if (i % 100 == 0) {
            ASSERT_TRUE(times.find("kept.example", start).rtt);
        }
    }
    EXPECT_EQ(times.size(), OriginTimes::hosts_max);
    EXPECT_FALSE(times.find(host(0), start).rtt);
    EXPECT_TRUE(times.find(host(OriginTimes::hosts_max * 3 / 2 - 1), start).rtt);
}

TEST(OriginTimes, are_shared_by_threads) {
    OriginTimes times;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&times] {
            for (std::size_t i = 0; i < 20'000; ++i) {
                auto const name = host(i % 500);
                times.connected(name, microseconds{100}, start);
                auto const rtt = times.find(name, start).rtt;
                ASSERT_TRUE(rtt);
                ASSERT_EQ(*rtt, microseconds{100});
            }
        });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(times.size(), 500u);
}

}   // namespace
}   // namespace garner::icp
