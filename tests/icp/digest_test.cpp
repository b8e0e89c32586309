// Cache digests in Squid's format: accepted and refused digests, lookups, and the rate of false positives.
#include "icp/digest.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace garner::icp {
namespace {

using namespace std::literals;

std::shared_ptr<Digest const> read(std::string bytes, std::string* why = nullptr) {
    auto digest = Digest::read(std::move(bytes));
    if (why) *why = digest.fault_text();
    return digest ? *digest : nullptr;
}

std::string url(int number) { return "http://example.com/" + std::to_string(number); }

std::string digest_of(int from, int to, std::uint64_t capacity) {
    DigestBuilder builder(capacity);
    for (int i = from; i < to; ++i) builder.add(digest_key(url(i)));
    return std::move(builder).finish();
}

/// The header of a digest that Squid 5.7 made of 51 entries.
std::string squids_head() {
    std::string head("\x00\x05\x00\x03\x00\x00\x00\x33\x00\x00\x00\x33\x00\x00\x00\x00\x00\x00\x00\x20\x05\x04\x00\x00"s);
    head.resize(Digest::header_bytes);
    return head;
}

std::string with(std::string bytes, std::size_t at, std::string_view other) { return bytes.replace(at, other.size(), other); }

TEST(Digest, keys_are_the_words_of_the_md5_of_method_and_url) {
    // md5("\x01http://127.0.0.1:25180/a.txt")
    DigestKey const known{0x73225064u, 0x3f29c148u, 0x2f7a102du, 0x7072de70u};
    EXPECT_EQ(digest_key("http://127.0.0.1:25180/a.txt"), known);
    EXPECT_NE(digest_key("http://127.0.0.1:25180/b.txt"), known);
}

TEST(Digest, reads_what_squid_writes) {
    auto mask = std::string(32, '\0');
    for (auto const word : digest_key("http://127.0.0.1:25180/a.txt")) {
        auto const bit = word % 256;
        mask[bit >> 3] = static_cast<char>(mask[bit >> 3] | (1 << (bit & 7)));
    }
    auto const digest = read(squids_head() + mask);
    ASSERT_TRUE(digest);
    EXPECT_EQ(digest->entries(), 51u);
    EXPECT_TRUE(digest->may_have(digest_key("http://127.0.0.1:25180/a.txt")));
    EXPECT_FALSE(digest->may_have(digest_key("http://127.0.0.1:25180/c.txt")));
}

TEST(Digest, writes_squids_head) {
    auto const bytes = digest_of(0, 51, 64);
    EXPECT_EQ(bytes.substr(0, 24),
              "\x00\x05\x00\x03\x00\x00\x00\x40\x00\x00\x00\x33\x00\x00\x00\x00\x00\x00\x00\x28\x05\x04\x00\x00"s);
    EXPECT_EQ(bytes.substr(24, 104), std::string(104, '\0'));
    EXPECT_EQ(bytes.size(), 128u + 40u);
}

TEST(Digest, finds_all_that_it_was_made_of) {
    auto const digest = read(digest_of(0, 10'000, 10'000));
    ASSERT_TRUE(digest);
    EXPECT_EQ(digest->entries(), 10'000u);
    for (int i = 0; i < 10'000; ++i) ASSERT_TRUE(digest->may_have(digest_key(url(i)))) << i;
}

TEST(Digest, errs_as_often_as_five_bits_and_four_hashes_do) {
    auto const digest = read(digest_of(0, 20'000, 20'000));
    ASSERT_TRUE(digest);
    int wrong = 0;
    constexpr int strangers = 20'000;
    for (int i = 0; i < strangers; ++i) wrong += digest->may_have(digest_key(url(1'000'000 + i)));
    double const expected = std::pow(1 - std::exp(-4.0 / 5), 4);   // 0.092
    EXPECT_NEAR(wrong / double{strangers}, expected, 0.015);
}

TEST(Digest, an_empty_one_has_nothing) {
    auto const digest = read(digest_of(0, 0, 0));
    ASSERT_TRUE(digest);
    EXPECT_EQ(digest->entries(), 0u);
    EXPECT_FALSE(digest->may_have(digest_key(url(1))));
}

TEST(Digest, more_than_its_capacity_still_is_found) {
    auto const digest = read(digest_of(0, 1'000, 1));
    ASSERT_TRUE(digest);
    for (int i = 0; i < 1'000; ++i) ASSERT_TRUE(digest->may_have(digest_key(url(i))));
}

TEST(Digest, what_is_none_is_refused_with_the_reason) {
    auto const good = squids_head() + std::string(32, '\xff');
    ASSERT_TRUE(read(good));
    struct {
        std::string bytes;
        char const* why;
    } const cases[] = {
        {"", "shorter than its header"},
        {good.substr(0, 127), "shorter than its header"},
        {good.substr(0, 159), "the length does not match the header"},
        {good + "x", "the length does not match the header"},
        {with(good, 0, "\x00\x02"sv), "version below 3"},
        {with(good, 2, "\x00\x06"sv), "version above 5"},
        {with(good, 21, "\x05"sv), "the number of hash functions is not 4"},
        {with(good, 20, "\x00"sv), "the capacity is 0"},
        {with(good, 4, "\x00\x00\x00\x00"sv), "the capacity is 0"},
        {with(good, 4, "\xff\xff\xff\xff"sv), "sizes out of range"},
        {with(good, 8, "\xff\xff\xff\xff"sv), "sizes out of range"},
        {with(good, 16, "\x7f\xff\xff\xff"sv), "sizes out of range"},
        {with(good, 16, "\x00\x00\x00\x21"sv), "the mask size does not match the capacity"},
        {with(good, 4, "\x00\x00\x00\x43"sv), "the mask size does not match the capacity"},
        {with(good, 20, "\x06"sv), "the mask size does not match the capacity"},
    };
    for (auto const& one : cases) {
        std::string why;
        EXPECT_FALSE(read(one.bytes, &why)) << one.why;
        EXPECT_EQ(why, one.why);
    }
}

TEST(Digest, a_later_version_that_asks_for_no_more_is_read) {
    EXPECT_TRUE(read(with(squids_head() + std::string(32, '\0'), 0, "\x00\x09"sv)));
}

}   // namespace
}   // namespace garner::icp
