#include "papers/bloom.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "crawl/fronted_set.hpp"
#include "crawl/line_set.hpp"
#include "papers/lru_light.hpp"
#include "papers/stable_bloom.hpp"
#include "papers/window_filters.hpp"

namespace garner::papers {
namespace {

using namespace crawl;

Fingerprint url(std::uint64_t number) { return mixed(number + 1); }

/// The share of URLs that were never inserted but seem to be.
template <class Filter>
double false_positives(Filter const& filter, std::uint64_t asked) {
    std::uint64_t held = 0;
    for (std::uint64_t i = 0; i < asked; ++i) held += filter.holds(url(i + (std::uint64_t{1} << 40)));
    return static_cast<double>(held) / static_cast<double>(asked);
}

// The papers' predictions. False positive rate of Bloom's filter of `bits` bits that holds `entries` (Bloom 1970; Kubota, Ueda,
// Yamana, equation 3.1), and the number of hashes with the lowest rate (equation 3.2).
double bloom_false_positives(double bits, double hashes, double entries) {
    // Computes (1 - 1/m)^(kn) by its logarithm, because 1 - 1/m may round to 1.
    return std::pow(-std::expm1(hashes * entries * std::log1p(-1 / bits)), hashes);
}

double bloom_best_hashes(double bits, double entries) { return bits / entries * std::log(2.0); }

double bloom_bits(double entries, double hashes, double false_positives) {
    return -hashes * entries / std::log1p(-std::pow(false_positives, 1 / hashes));
}

// The inverse of stable_decrements().
double stable_false_positives(double decrements, double hashes, double most, double counters) {
    auto const zero = std::pow(1 / (1 + 1 / (decrements * (1 / hashes - 1 / counters))), most);
    return std::pow(1 - zero, hashes);
}

// Stable point of the Stable Bloom Filter Light, which decrements counters in turn. Each counter is decremented once in every round
// of counters / decrements insertions, and is set `hashes` / `decrements` times in it. A counter is 0 if it was not set for
// `most` - 1 rounds and for the part of a round since its last decrement, which is uniformly distributed.
double light_false_positives(double decrements, double hashes, double most) {
    auto const hits = hashes / decrements;   // per counter and round
    auto const zero = (std::exp(-(most - 1) * hits) - std::exp(-most * hits)) / hits;
    return std::pow(1 - zero, hashes);
}

TEST(BloomFormulas, give_the_paper_s_figures) {
    EXPECT_NEAR(stable_decrements(1e-5, 8, 3, 1 << 30), 84.7, 0.1);
    EXPECT_NEAR(stable_decrements(0.01, 4, 3, 1 << 30), 29.6, 0.1);
    EXPECT_NEAR(stable_false_positives(stable_decrements(0.01, 4, 3, 1 << 20), 4, 3, 1 << 20), 0.01, 1e-12);
    EXPECT_NEAR(light_false_positives(32, 4, 3), 0.00515, 0.00001);
    EXPECT_NEAR(bloom_best_hashes(10'000, 1'000), 6.93, 0.01);
    EXPECT_NEAR(bloom_false_positives(10'000, 7, 1'000), 0.0082, 0.0001);
    EXPECT_NEAR(bloom_false_positives(bloom_bits(1e6, 5, 0.003), 5, 1e6), 0.003, 1e-8);
}

TEST(Bloom, its_false_positives_are_those_of_the_formula) {
    constexpr std::uint64_t bits = 200'000, entries = 25'000;
    BloomBits filter(BloomPositions(bits, 4, 1));
    BloomCounters counters(BloomPositions(bits, 4, 1));
    for (std::uint64_t i = 0; i < entries; ++i) filter.put(url(i)), counters.put(url(i));
    for (std::uint64_t i = 0; i < entries; ++i) ASSERT_TRUE(filter.holds(url(i)) && counters.holds(url(i)));
    auto const expected = bloom_false_positives(bits, 4, entries);
    auto const measured = false_positives(filter, 400'000);
    EXPECT_NEAR(measured / expected, 1, 0.05);
    EXPECT_EQ(false_positives(counters, 400'000), measured);   // uses equal positions
}

TEST(Bloom, from_counters_can_be_taken_out_what_was_put_in) {
    BloomCounters counters(BloomPositions(50'000, 4, 1));
    for (std::uint64_t i = 0; i < 4'000; ++i) counters.put(url(i));
    for (std::uint64_t i = 0; i < 4'000; i += 2) counters.take_out(url(i));
    std::uint64_t left = 0;
    for (std::uint64_t i = 0; i < 4'000; ++i) {
        if (i % 2)
            ASSERT_TRUE(counters.holds(url(i)));
        else
            left += counters.holds(url(i));
    }
    EXPECT_LT(left, 40u);
}

TEST(SmallCounters, many_at_once_are_decremented_as_one_after_the_other) {
    std::mt19937_64 random(1);
    for (std::uint64_t size : {32, 64, 320}) {
        SmallCounters together(size), apart(size);
        CyclicDecrement cyclic;
        std::uint64_t next = 0;
        for (int round = 0; round < 2'000; ++round) {
            for (int i = 0; i < 5; ++i) {
                auto const position = random() % size;
                auto const value = static_cast<unsigned>(random() % 4);
                together.set(position, value), apart.set(position, value);
            }
            auto const count = random() % (2 * size);
            cyclic.decrement(together, count);
            for (std::uint64_t i = 0; i < count; ++i, next = (next + 1) % size) apart.decrement(next);
            for (std::uint64_t i = 0; i < size; ++i) ASSERT_EQ(together.value(i), apart.value(i)) << i;
        }
    }
}

TEST(StableBloom, its_false_positives_come_to_rest_where_the_formulas_say) {
    for (auto [hashes, decrements] : {std::pair{4u, 32u}, {4u, 30u}, {2u, 10u}, {3u, 17u}}) {
        StableShape const shape{.counters = 1 << 17, .hashes = hashes, .decrements = decrements};
        StableBloomLight light(shape, 1, 1);
        StableBloom stable(shape, 1, 1);
        for (std::uint64_t i = 0; i < 60'000; ++i) light.put(url(i)), stable.put(url(i));   // more than four rounds
        // Averages over several moments, because the filter's content changes.
        double in_turn = 0, at_random = 0;
        constexpr std::uint64_t moments = 8, between = 4'001;
        for (std::uint64_t moment = 0; moment < moments; ++moment) {
            for (std::uint64_t i = 0; i < between; ++i) {
                auto const next = url(100'000 + moment * between + i);
                light.put(next), stable.put(next);
            }
            in_turn += false_positives(light, 100'000) / moments;
            at_random += false_positives(stable, 100'000) / moments;
        }
        EXPECT_NEAR(in_turn / light_false_positives(decrements, hashes, 3), 1, 0.05) << hashes << " " << decrements;
        EXPECT_NEAR(at_random / stable_false_positives(decrements, hashes, 3, 1 << 17), 1, 0.06) << hashes;
    }
}

TEST(StableBloom, the_light_one_remembers_the_last_it_promises) {
    constexpr std::uint64_t entries = 2'000;
    StableBloomLight light({.entries = entries});
    for (std::uint64_t i = 0; i < 20'000; ++i) {
        light.put(url(i));
        if (i >= entries && i % 97 == 0)
            for (std::uint64_t back = 0; back < entries; ++back) ASSERT_TRUE(light.holds(url(i - back))) << i << " " << back;
    }
}

TEST(StableBloom, counters_follow_from_what_is_wanted) {
    auto const shape = StableShape::of({.entries = 1'000});
    EXPECT_EQ(shape.decrements, 30u);   // equation 3.3: 29.6
    EXPECT_EQ(shape.counters, 15'000u);
    EXPECT_EQ(StableShape::of({.entries = 10, .values = {8, 1e-5, 0}}).decrements, 85u);
    EXPECT_EQ(StableShape::of({.entries = 10, .values = {8, 1e-5, 32}}).decrements, 32u);
}

TEST(WindowFilters, the_landmark_forgets_all_at_once) {
    LandmarkWindow window({.entries = 100, .values = {4, 1e-6}});
    for (std::uint64_t i = 0; i < 50; ++i) EXPECT_FALSE(window.seen(url(i)));
    for (std::uint64_t i = 0; i < 50; ++i) EXPECT_TRUE(window.seen(url(i)));
    for (std::uint64_t i = 0; i < 50; ++i) EXPECT_FALSE(window.seen(url(i)));
}

TEST(WindowFilters, the_sliding_one_knows_just_the_latest_requests_that_told_it_something) {
    constexpr std::uint64_t entries = 300;
    SlidingWindow window({.entries = entries, .values = {6, 1e-9}});
    std::mt19937_64 random(5);
    std::deque<std::pair<Fingerprint, bool>> model;
    for (int i = 0; i < 20'000; ++i) {
        auto const asked = url(random() % 500);
        if (model.size() == entries) model.pop_front();
        bool const held = std::ranges::find(model, std::pair{asked, true}) != model.end();
        ASSERT_EQ(window.seen(asked), held) << i;
        model.emplace_back(asked, !held);
    }
}

TEST(WindowFilters, the_jumping_one_knows_its_parts_and_forgets_the_oldest) {
    JumpingWindow window({.entries = 400, .values = {6, 1e-9, 4}});
    for (std::uint64_t i = 0; i < 400; ++i) ASSERT_FALSE(window.seen(url(i)));   // four segments of 100
    ASSERT_FALSE(window.seen(url(1'000)));                                       // the fifth replaces the first
    std::uint64_t known = 0;
    for (std::uint64_t i = 100; i < 199; ++i) known += window.seen(url(i));
    EXPECT_EQ(known, 99u);
    EXPECT_FALSE(window.seen(url(0)));
}

TEST(LruLight, what_leaves_lru_is_in_the_filter_and_nothing_else) {
    LruLight chain(10, {.counters = 4'096, .hashes = 4, .decrements = 8}, 1'000, 1);
    for (std::uint64_t i = 0; i < 200; ++i) EXPECT_FALSE(chain.seen(url(i))) << i;
    EXPECT_TRUE(chain.seen(url(199)));   // known to LRU
    EXPECT_TRUE(chain.seen(url(100)));   // known to the filter
    // Twenty URLs in turn, in LRU or evicted from it: all are known the second time.
    for (int round = 0; round < 3; ++round)
        for (std::uint64_t i = 1'000; i < 1'020; ++i) EXPECT_EQ(chain.seen(url(i)), round > 0) << round << " " << i;
}

TEST(FrontedSet, asks_the_set_only_for_what_the_cache_does_not_know) {
    FrontedSet set(std::make_unique<Lru>(CacheOptions{.entries = 50}), std::make_unique<LineSet>(LineSet::Options{}));
    std::vector<Fingerprint> urls;
    for (std::uint64_t i = 0; i < 100; ++i) urls.insert(urls.end(), {url(i), url(i), url(i / 2)});
    std::vector<std::uint8_t> is_new(urls.size());
    EXPECT_EQ(set.add(urls, is_new).fresh, 100u);
    for (std::size_t i = 0; i < urls.size(); ++i) ASSERT_EQ(is_new[i] != 0, i % 3 == 0) << i;
    EXPECT_EQ(set.size(), 100u);
    EXPECT_EQ(set.add(urls, is_new).fresh, 0u);
}

}   // namespace
}   // namespace garner::papers
