#include "crawl/bucket_index.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace garner::crawl {
namespace {

using Urls = std::vector<Fingerprint>;

std::vector<std::uint8_t> news(Urls known, unsigned bits, Urls const& asked, Simd simd) {
    auto const count = known.size();
    known.insert(known.end(), BucketIndex::slack, UINT64_MAX);
    BucketIndex index(simd);
    index.take(std::span(known).first(count), bits);
    std::vector<std::uint8_t> is_new(asked.size(), 7);
    index.mark_new(asked, is_new);
    return is_new;
}

void expect_right(Urls known, unsigned bits, Urls const& asked) {
    std::ranges::sort(known);
    for (auto simd : {Simd::plain, Simd::avx2, Simd::avx512}) {
        if (!has(simd)) continue;
        auto const is_new = news(known, bits, asked, simd);
        for (std::size_t i = 0; i < asked.size(); ++i)
            ASSERT_EQ(is_new[i], std::ranges::binary_search(known, asked[i]) ? 0 : 1) << asked[i] << " of " << known.size();
    }
}

TEST(BucketIndex, knows_what_the_bucket_holds_and_nothing_else) {
    std::mt19937_64 random(1);
    for (std::size_t count : {1, 2, 7, 8, 9, 100, 1'526, 20'000}) {
        for (unsigned bits : {8, 16}) {
            auto const first = std::uint64_t{0xabcd} << 48 >> (64 - bits) << (64 - bits);
            Urls known, asked;
            for (std::size_t i = 0; i < count; ++i) known.push_back(first | random() >> bits);
            for (int i = 0; i < 2'000; ++i) {
                asked.push_back(known[random() % count]);
                asked.push_back(first | random() >> bits);
                asked.push_back(known[random() % count] + 1);
            }
            std::erase_if(asked, [&](auto url) { return url >> (64 - bits) != first >> (64 - bits); });
            expect_right(known, bits, asked);
        }
    }
}

TEST(BucketIndex, finds_many_that_lie_together) {
    Urls known, asked;
    for (std::uint64_t i = 0; i < 500; ++i) known.push_back(i * 2);
    for (std::uint64_t i = 0; i < 1'100; ++i) asked.push_back(i);
    expect_right(known, 16, asked);
}

TEST(BucketIndex, the_last_of_all_fingerprints_is_one_like_others) {
    auto const last = UINT64_MAX;
    expect_right({last - 9, last - 1}, 16, {last, last - 1, last - 2});
    expect_right({last - 9, last - 1, last}, 16, {last, last - 1, last - 2});
    expect_right({last}, 16, {last, last - 1});
}

}   // namespace
}   // namespace garner::crawl
