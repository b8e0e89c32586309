#include "crawl/line_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <unordered_set>
#include <vector>

#include "crawl/mixed_bits.hpp"

namespace garner::crawl {
namespace {

std::vector<Fingerprint> distinct_urls(std::size_t count, std::uint64_t from = 0) {
    std::vector<Fingerprint> urls;
    for (std::size_t i = 0; i < count; ++i) urls.push_back((from + i) * 0xd1342543de82ef95 + 0x632be59bd9b4e019);
    return urls;
}

std::uint64_t add(LineSet& set, std::vector<Fingerprint> const& urls) {
    std::vector<std::uint8_t> is_new(urls.size());
    return set.add(urls, is_new).fresh;
}

TEST(LineSet, every_fingerprint_can_be_had_back) {
    // Lines have 8 to 12 slots.
    for (std::uint64_t expected : {0, 1'000, 20'000, 1'000'000, 10'000'000, 100'000'000}) {
        LineSet set({.expected = expected, .seed = 5});
        auto urls = distinct_urls(expected > 1'000'000 ? 10 : 20'000);
        EXPECT_EQ(add(set, urls), urls.size());
        auto all = set.entries();
        std::ranges::sort(all);
        std::ranges::sort(urls);
        EXPECT_TRUE(all == urls);
    }
}

TEST(LineSet, full_lines_of_every_width_keep_each_slot) {
    for (std::uint64_t expected : {0, 1'000, 20'000, 1'000'000, 10'000'000, 100'000'000}) {
        LineSet set({.expected = expected, .seed = 5});
        // Fills three lines, with mixed fingerprints that differ only in their lower bits.
        std::vector<Fingerprint> urls;
        for (std::uint64_t line : {0, 77, 200})
            for (std::uint64_t i = 0; i < 40; ++i) urls.push_back(unmixed(line << 50 | i * 0x1234567 % (1 << 26)) ^ 5);
        for (std::size_t i = 0; i < urls.size(); ++i) {
            EXPECT_EQ(add(set, {urls[i]}), 1u) << expected;
            ASSERT_EQ(add(set, {urls.begin(), urls.begin() + static_cast<std::ptrdiff_t>(i) + 1}), 0u) << expected << " " << i;
        }
        auto all = set.entries();
        std::ranges::sort(all);
        std::ranges::sort(urls);
        EXPECT_TRUE(all == urls) << expected;
    }
}

TEST(LineSet, what_was_moved_is_still_found_and_nothing_else) {
    LineSet set({.expected = 0, .seed = 1});
    for (std::uint64_t round = 0; round < 8; ++round) {
        auto const urls = distinct_urls(5'000, round * 5'000);
        EXPECT_EQ(add(set, urls), urls.size());
        EXPECT_EQ(add(set, distinct_urls((round + 1) * 5'000)), 0u);
    }
}

TEST(LineSet, all_widths_of_compare_answer_the_same) {
    std::mt19937_64 random(3);
    std::vector<Fingerprint> urls(30'000);
    for (auto& url : urls) url = random() % 10'000;
    std::vector<std::uint8_t> expected(urls.size());
    LineSet plain({.expected = 0, .seed = 1, .simd = Simd::plain});
    plain.add(urls, expected);
    for (auto simd : {Simd::avx2, Simd::avx512}) {
        if (!has(simd)) continue;
        std::vector<std::uint8_t> is_new(urls.size());
        LineSet set({.expected = 0, .seed = 1, .simd = simd});
        set.add(urls, is_new);
        EXPECT_EQ(is_new, expected) << static_cast<int>(simd);
    }
}

TEST(LineSet, a_repeat_within_a_block_is_known_and_its_first_is_new) {
    LineSet set({.expected = 0, .seed = 1});
    std::vector<Fingerprint> urls;
    for (std::uint64_t i = 0; i < 5'000; ++i) urls.insert(urls.end(), {i, i / 2, i});
    std::vector<std::uint8_t> is_new(urls.size());
    set.add(urls, is_new);
    std::unordered_set<Fingerprint> model;
    for (std::size_t i = 0; i < urls.size(); ++i) ASSERT_EQ(is_new[i] != 0, model.insert(urls[i]).second) << i;
}

TEST(LineSet, takes_the_room_it_promises) {
    constexpr std::uint64_t entries = 100'000;
    LineSet known({.expected = entries}), grown({.expected = 0});
    EXPECT_EQ(add(known, distinct_urls(entries)), entries);
    EXPECT_EQ(add(grown, distinct_urls(entries)), entries);
    EXPECT_LT(known.bits_per_entry(), 68);
    EXPECT_LT(grown.bits_per_entry(), 86);
}

TEST(LineSet, is_empty_again_when_cleared) {
    LineSet set({.expected = 0});
    EXPECT_EQ(add(set, distinct_urls(1'000)), 1'000u);
    set.clear();
    EXPECT_EQ(set.size(), 0u);
    EXPECT_EQ(add(set, distinct_urls(1'000)), 1'000u);
}

}   // namespace
}   // namespace garner::crawl
