#include "crawl/line_cache.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "catalog/seen_caches.hpp"
#include "crawl/simd.hpp"
#include "crawl/stream.hpp"

namespace garner::crawl {
namespace {

using namespace catalog;

std::unique_ptr<SeenCache> cache_of(std::string const& spec, std::uint64_t entries) {
    auto made = make_cache(spec, {.entries = entries});
    EXPECT_TRUE(made) << made.fault_text();
    return *std::move(made);
}

/// Lines as lists of whole keys, newest first.
struct ListsModel {
    std::size_t ways, place;
    std::vector<std::vector<std::uint64_t>> lines;

    bool seen(std::uint64_t line_number, std::uint64_t key) {
        auto& line = lines[line_number];
        auto const found = std::find(line.begin(), line.end(), key);
        bool const held = found != line.end();
        if (held) line.erase(found);
        // Empty slots come after used ones, and inserting below the used ones keeps their order.
        line.insert(line.begin() + static_cast<std::ptrdiff_t>(held ? 0 : std::min(place, line.size())), key);
        if (line.size() > ways) line.pop_back();
        return held;
    }
};

std::uint64_t first_bits(Fingerprint url, std::uint64_t lines) {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(url) * lines) >> 64);
}

TEST(Line, is_lists_of_the_last_eight) {
    for (std::uint64_t lines : {2, 3, 16}) {
        auto const cache = cache_of("line:insert=front", lines * 8);
        ListsModel model{8, 0, decltype(ListsModel::lines)(lines)};
        for (auto url : test::any_stream(200'000, lines * 10))
            ASSERT_EQ(cache->seen(url), model.seen(first_bits(url, lines), url)) << lines << " lines";
    }
}

TEST(Line, takes_no_empty_place_for_a_url) {
    for (Fingerprint url : {Fingerprint{0}, Fingerprint{UINT64_MAX}}) {
        auto const cache = cache_of("line", 64);
        EXPECT_FALSE(cache->seen(url));
        EXPECT_TRUE(cache->seen(url));
        EXPECT_FALSE(cache->seen(~url));
    }
}

TEST(Line32, is_lists_of_the_last_sixteen_tags) {
    for (std::uint64_t lines : {2, 5, 32}) {
        auto const cache = cache_of("line32:insert=front", lines * 16);
        ListsModel model{16, 0, decltype(ListsModel::lines)(lines)};
        for (auto url : test::any_stream(200'000, lines * 20)) {
            auto const tag = static_cast<std::uint32_t>(url);
            ASSERT_EQ(cache->seen(url), model.seen(first_bits(url, lines), tag ? tag : 1)) << lines << " lines";
        }
    }
}

TEST(Line32, errs_once_in_2_7e8_times) {
    // In a full line, 16 tags of 32 bits cause this rate of false positives.
    double const rate = 16 / 4'294'967'295.0;
    EXPECT_LT(rate, 4e-9);
    auto const cache = cache_of("line32:insert=front", 1 << 12);
    for (std::uint64_t url = 0; url < 4'000'000; ++url) ASSERT_FALSE(cache->seen(papers::Dice::mixed(url)));
}

TEST(Quotient, is_lists_of_the_last_ten_whole_fingerprints) {
    // Uses only lines whose fingerprints have small remainders.
    constexpr std::uint64_t lines = 8'193;
    auto const cache = cache_of("quotient:insert=front", lines * 10);
    ASSERT_EQ(cache->entries(), lines * 10);
    ListsModel model{10, 0, decltype(ListsModel::lines)(lines)};
    for (auto url : test::any_stream(300'000, 60)) {
        // The largest and the smallest quotients, so that every bit matters.
        for (auto key : {(url % 3) + lines * (UINT64_MAX / lines - 1 - (url >> 60)), (url % 3) + lines * (url >> 61),
                         lines * (std::uint64_t{1} << (url % 51))})
            ASSERT_EQ(cache->seen(key), model.seen(key % lines, key));
    }
}

TEST(Quotient, takes_at_most_52_bits_and_errs_never) {
    auto const cache = cache_of("quotient", 1 << 17);
    EXPECT_LE(static_cast<double>(cache->memory_bits()) / (1 << 17), 52);
    std::set<Fingerprint> all;
    for (auto url : test::any_stream(400'000, 200'000)) {
        bool const is_new = all.insert(url).second;
        ASSERT_FALSE(cache->seen(url) && is_new);
    }
}

TEST(Quotient, wants_as_many_lines_as_make_quotients_short) {
    EXPECT_EQ(make_cache("quotient", {.entries = 1 << 16}).fault_text(),
              "65536 entries: their quotients have more than 51 bits; take 81930 or more, or use the cache line");
}

TEST(Lines, answer_the_same_whatever_the_machine_has) {
    struct Size {
        char const* name;
        std::uint64_t entries;
    };
    for (auto const& [name, entries] : {Size{"line", 2'048}, Size{"line32", 2'048}, Size{"quotient", 100'000}}) {
        for (auto const* insert : {"front", "middle", "low", "duel"}) {
            auto const spec = std::string(name) + ":insert=" + insert + ":isa=";
            auto const stream = test::any_stream(200'000, entries * 2);
            std::vector<std::uint8_t> expected(stream.size()), answers(stream.size());
            cache_of(spec + "plain", entries)->seen_each(stream, expected);
            for (auto simd : {Simd::avx2, Simd::avx512}) {
                if (!has(simd)) continue;
                auto const name_of_isa = std::string(LineSettings::isas[static_cast<std::size_t>(simd) + 1]);
                cache_of(spec + name_of_isa, entries)->seen_each(stream, answers);
                EXPECT_EQ(answers, expected) << spec << name_of_isa;
            }
        }
    }
}

/// A loop slightly longer than the cache, which LRU never hits.
std::uint64_t misses_of_a_loop(std::string const& spec) {
    auto const cache = cache_of(spec, 1 << 12);
    std::uint64_t misses = 0;
    for (int round = 0; round < 60; ++round)
        for (std::uint64_t url = 0; url < 6'000; ++url) misses += !cache->seen(papers::Dice::mixed(url + 1));
    return misses;
}

TEST(Insertion, a_duel_finds_what_misses_least) {
    auto const front = misses_of_a_loop("line32:insert=front"), low = misses_of_a_loop("line32:insert=low");
    EXPECT_LT(low, front * 9 / 10);
    EXPECT_LT(misses_of_a_loop("line32"), front * 19 / 20);
}

}   // namespace
}   // namespace garner::crawl
