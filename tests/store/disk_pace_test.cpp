// Polling for a read: timed by recent reads, and not used if reads are slow.
#include "store/disk_pace.hpp"

#include <gtest/gtest.h>

#include <random>

namespace garner::store::disk {
namespace {

using microseconds = ReadPace::microseconds;

/// The number of polls until a read of this duration is done; 0 if a thread waits for it.
int looks_for(ReadPace& pace, microseconds takes) {
    auto const first = pace.first();
    if (!first) return 0;
    auto at = *first;
    for (int looks = 1; looks <= ReadPace::looks_max; ++looks, at += pace.next()) {
        if (at >= takes) {
            pace.was_there();
            return looks;
        }
        pace.was_not();
    }
    return ReadPace::looks_max + 1;
}

TEST(ReadPace, most_are_there_at_the_first_look_however_long_they_take) {
    std::mt19937 random(1);
    for (int const mean : {60, 150, 500}) {
        ReadPace pace;
        int looks = 0, threads = 0, waited = 0;
        constexpr int reads = 10'000;
        for (int i = 0; i < reads; ++i) {
            auto const takes = microseconds{std::uniform_int_distribution(mean / 2, mean * 3 / 2)(random)};
            waited += static_cast<int>(pace.next().count());
            auto const count = looks_for(pace, takes);
            looks += count;
            threads += count == 0 || count > ReadPace::looks_max;
        }
        EXPECT_LT(looks, reads * 3 / 2) << mean;
        EXPECT_LT(threads, reads / 100) << mean;
        EXPECT_LT(2 * waited / reads, 2 * mean) << "microseconds, " << mean;
    }
}

TEST(ReadPace, of_a_slow_disk_few_are_looked_for_in_vain_and_when_it_is_fast_again_most_are) {
    ReadPace pace;
    int looks = 0, threads = 0;
    constexpr int reads = 10'000;
    for (int i = 0; i < reads; ++i) looks += looks_for(pace, microseconds{10'000});
    EXPECT_LT(looks, reads / 2);
    for (int i = 0; i < reads; ++i) threads += looks_for(pace, microseconds{100}) == 0;
    EXPECT_LT(threads, reads / 10);
}

TEST(ReadPace, stays_between_its_bounds) {
    ReadPace pace;
    for (int i = 0; i < 1'000; ++i) pace.was_there();
    EXPECT_EQ(pace.first(), ReadPace::least);
    EXPECT_EQ(pace.next(), ReadPace::least);
    for (int i = 0; i < 1'000; ++i) pace.was_not();
    EXPECT_FALSE(pace.first());
    EXPECT_LE(pace.next(), ReadPace::most);
}

}   // namespace
}   // namespace garner::store::disk
