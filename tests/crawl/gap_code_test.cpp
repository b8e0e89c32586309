#include "crawl/gap_code.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace garner::crawl {
namespace {

using Numbers = std::vector<std::uint64_t>;

Numbers any_numbers(std::size_t count, unsigned universe_bits, std::uint64_t base, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    Numbers numbers;
    while (numbers.size() < count) {
        for (auto missing = count - numbers.size(); missing > 0; --missing)
            numbers.push_back(base + (random() >> (64 - universe_bits)));
        std::ranges::sort(numbers);
        numbers.erase(std::ranges::unique(numbers).begin(), numbers.end());
    }
    return numbers;
}

std::vector<char> written(Numbers const& numbers, std::uint64_t base, unsigned universe_bits) {
    std::vector<char> bytes(bytes_at_most(numbers.size(), universe_bits) + 8, 'x');
    auto const size = write_gaps(numbers, base, universe_bits, bytes.data());
    EXPECT_LE(size, bytes_at_most(numbers.size(), universe_bits));
    EXPECT_EQ(size % 8, 0u);
    bytes.resize(size);
    return bytes;
}

bool read(std::vector<char> bytes, std::uint64_t base, unsigned universe_bits, Numbers& numbers) {
    auto const size = bytes.size();
    bytes.resize(size + gap_slack);
    auto const from = std::span(bytes).first(size);
    Numbers once_more(numbers.size());
    bool const done = read_gaps(from, base, universe_bits, numbers);
    EXPECT_EQ(read_gaps(from, base, universe_bits, once_more, GapReader::plain), done);
    if (done) EXPECT_TRUE(once_more == numbers);
    return done;
}

void expect_same_again(Numbers const& numbers, std::uint64_t base, unsigned universe_bits) {
    Numbers again(numbers.size());
    ASSERT_TRUE(read(written(numbers, base, universe_bits), base, universe_bits, again)) << numbers.size();
    EXPECT_TRUE(again == numbers) << numbers.size();
}

TEST(GapCode, what_was_written_is_read_again) {
    for (unsigned bits : {8, 20, 48, 56})
        for (std::size_t count : {0, 1, 2, 63, 64, 65, 100, 200})
            for (std::uint64_t seed : {1, 2, 3})
                expect_same_again(any_numbers(count, bits, std::uint64_t{5} << 56, seed), std::uint64_t{5} << 56, bits);
    expect_same_again(any_numbers(5'000, 48, std::uint64_t{0xffff} << 48, 1), std::uint64_t{0xffff} << 48, 48);
}

TEST(GapCode, numbers_at_the_ends_and_without_gaps_are_nothing_special) {
    auto const base = std::uint64_t{0xff} << 56, last = UINT64_MAX;
    for (Numbers const& numbers : {Numbers{base}, Numbers{last}, Numbers{base, last}, Numbers{base, base + 1, last - 1, last}})
        expect_same_again(numbers, base, 56);
    Numbers dense(256), clustered;
    for (std::uint64_t i = 0; i < 256; ++i) dense[i] = i;
    expect_same_again(dense, 0, 8);
    for (std::uint64_t i = 0; i < 3'000; ++i) clustered.push_back((std::uint64_t{1} << 47) + i);
    expect_same_again(clustered, 0, 48);
}

TEST(GapCode, takes_hardly_more_than_it_must) {
    for (std::size_t count : {1'000, 1'300, 1'526, 1'900, 2'500}) {
        auto const bits = 8.0 * static_cast<double>(written(any_numbers(count, 48, 0, count), 0, 48).size());
        auto const n = static_cast<double>(count);
        auto const bound = 48 - std::log2(n) + 1 / std::log(2.0);   // per number, for many numbers
        EXPECT_LT(bits / n, bound + 0.13 + 128 / n) << count;       // plus two incomplete words
    }
}

TEST(GapCode, bytes_that_are_none_of_it_are_refused_or_read_as_some_numbers) {
    auto const numbers = any_numbers(300, 48, 0, 1);
    auto const good = written(numbers, 0, 48);
    Numbers into(300);
    EXPECT_FALSE(read({}, 0, 48, into));
    EXPECT_FALSE(read(std::vector<char>(good.size(), 0), 0, 48, into));
    EXPECT_FALSE(read(std::vector<char>(good.size(), '\xff'), 0, 48, into));
    for (std::size_t size = 0; size < good.size(); size += 8) {
        std::vector<char> shorter(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
        read(shorter, 0, 48, into);   // stays within its bounds; sanitizers check this
    }
}

}   // namespace
}   // namespace garner::crawl
