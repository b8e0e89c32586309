#include "seen_commands/wide_set.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace garner::seen_commands {
namespace {

using namespace crawl;

struct Answers {
    std::vector<std::uint8_t> is_new;
    std::uint64_t fresh;
};

Answers ask(WideSet& set, std::vector<Fingerprint128> const& batch) {
    Answers answers{std::vector<std::uint8_t>(batch.size(), 7), 0};
    answers.fresh = set.add(batch, answers.is_new).fresh;
    return answers;
}

TEST(WideSet, answers_in_order_what_is_new) {
    for (std::uint64_t expected : {0, 20'000}) {
        WideSet set({.expected = expected});
        std::set<Fingerprint128> model;
        std::mt19937_64 random(7);
        for (std::size_t size = 1; size < 40'000; size = size * 3 / 2 + 1) {
            std::vector<Fingerprint128> batch;
            // Many fingerprints share each half: one half alone does not identify a URL.
            for (std::size_t i = 0; i < size; ++i) batch.push_back({random() % 200, random() % 100});
            auto const answers = ask(set, batch);
            std::uint64_t fresh = 0;
            for (std::size_t i = 0; i < size; ++i) {
                bool const expected_new = model.insert(batch[i]).second;
                ASSERT_EQ(answers.is_new[i] != 0, expected_new) << i;
                fresh += expected_new;
            }
            EXPECT_EQ(answers.fresh, fresh);
            EXPECT_EQ(set.size(), model.size());
        }
    }
}

TEST(WideSet, one_that_is_zero_is_nothing_special) {
    WideSet set({});
    EXPECT_EQ(set.size(), 0u);
    EXPECT_EQ(ask(set, {{0, 0}, {0, 1}, {0, 0}, {1, 0}}).is_new, (std::vector<std::uint8_t>{1, 1, 0, 1}));
    EXPECT_EQ(set.size(), 3u);
    EXPECT_EQ(ask(set, {{0, 0}, {0, 1}, {1, 0}}).fresh, 0u);
}

TEST(WideSet, takes_the_room_that_it_says) {
    constexpr std::uint64_t entries = 200'000;
    WideSet known({.expected = entries}), grown({});
    std::vector<Fingerprint128> batch;
    for (std::uint64_t i = 1; i <= entries; ++i) batch.push_back({i * 0x9e3779b97f4a7c15, i});
    EXPECT_EQ(ask(known, batch).fresh, entries);
    EXPECT_EQ(ask(grown, batch).fresh, entries);
    EXPECT_LE(known.bits_per_entry(), 147);
    EXPECT_LE(grown.bits_per_entry(), 184);
    EXPECT_EQ(ask(known, batch).fresh + ask(grown, batch).fresh, 0u);
}

}   // namespace
}   // namespace garner::seen_commands
