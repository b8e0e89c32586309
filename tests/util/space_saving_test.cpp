#include "util/space_saving.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace garner {
namespace {

struct Notes {
    std::uint64_t sum = 0;
};

template <std::size_t capacity>
using Counted = SpaceSaving<capacity, 16, Notes>;

Fingerprint key_of(std::string const& name) { return fingerprint(name, 7); }

template <class List>
void count(List& list, std::string const& name, std::uint64_t weight = 1) {
    list.count(key_of(name), name, weight).sum += weight;
}

struct Seen {
    std::uint64_t count = 0;
    std::uint64_t sum = 0;
};

template <class List>
std::map<std::string, Seen> all(List const& list) {
    std::map<std::string, Seen> rows;
    list.for_each([&](std::string_view name, std::uint64_t count, Notes const& notes) {
        EXPECT_TRUE(rows.emplace(name, Seen{count, notes.sum}).second) << name << " has two places";
    });
    return rows;
}

TEST(SpaceSaving, is_exact_while_there_is_a_place_for_each_key) {
    Counted<4> list;
    for (int i = 0; i < 5; ++i) count(list, "a");
    count(list, "b", 3);
    auto const rows = all(list);
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows.at("a").count, 5u);
    EXPECT_EQ(rows.at("b").count, 3u);
    EXPECT_EQ(rows.at("b").sum, 3u);
}

TEST(SpaceSaving, a_new_key_takes_the_place_of_the_least_one_and_does_not_inherit_its_count) {
    Counted<2> list;
    count(list, "often", 10);
    count(list, "seldom", 2);
    count(list, "new");
    auto const rows = all(list);
    EXPECT_EQ(rows.at("often").count, 10u);
    EXPECT_EQ(rows.at("new").count, 1u);
    EXPECT_EQ(rows.at("new").sum, 1u) << "its details begin anew";
    EXPECT_FALSE(rows.contains("seldom"));
    EXPECT_EQ(list.details(key_of("seldom")), nullptr);
    ASSERT_NE(list.details(key_of("new")), nullptr);
}

TEST(SpaceSaving, long_names_are_cut_and_a_cleared_list_is_empty) {
    Counted<2> list;
    count(list, std::string(40, 'x'));
    EXPECT_EQ(all(list).begin()->first, std::string(16, 'x'));
    list.clear();
    EXPECT_EQ(list.size(), 0u);
    EXPECT_EQ(list.details(key_of(std::string(40, 'x'))), nullptr);
    count(list, "a");
    EXPECT_EQ(all(list).at("a").count, 1u);
}

/// With any stream: no count is above the true one, and no key with more than 1/capacity of the stream is missing.
TEST(SpaceSaving, keeps_its_promises_beside_a_model) {
    constexpr std::size_t capacity = 8;
    std::mt19937 random(11);
    for (int round = 0; round < 200; ++round) {
        Counted<capacity> list;
        std::map<std::string, std::uint64_t> model;
        std::uint64_t total = 0;
        std::uniform_int_distribution<std::size_t> length(1, 400), keys(1, 30), weights(1, 3);
        auto const names = keys(random);
        for (auto left = length(random); left > 0; --left) {
            auto const name = std::to_string(std::min(random() % names, random() % names));
            auto const weight = weights(random);
            count(list, name, weight);
            model[name] += weight;
            total += weight;
        }
        auto const rows = all(list);
        EXPECT_EQ(rows.size(), std::min(model.size(), capacity));
        for (auto const& [name, row] : rows) {
            EXPECT_LE(row.count, model.at(name)) << name;
            EXPECT_EQ(row.count, row.sum) << "both begin when the key takes its place";
        }
        for (auto const& [name, number] : model)
            EXPECT_TRUE(number <= total / capacity || rows.contains(name)) << name << " of " << total;
    }
}

TEST(SpaceSaving, finds_the_first_ten_of_a_hundred_thousand_hosts) {
    constexpr std::size_t hosts = 100'000, requests = 400'000;
    std::vector<double> sums;
    double sum = 0;
    for (std::size_t i = 1; i <= hosts; ++i) sums.push_back(sum += std::pow(static_cast<double>(i), -0.9));
    std::mt19937_64 random(5);
    std::uniform_real_distribution<double> any(0, sum);
    SpaceSaving<256, 16, Notes> list;
    for (std::size_t i = 0; i < requests; ++i) {
        auto const host = std::lower_bound(sums.begin(), sums.end(), any(random)) - sums.begin();
        count(list, std::to_string(host));
    }
    std::vector<std::pair<std::uint64_t, std::string>> rows;
    for (auto const& [name, row] : all(list)) rows.emplace_back(row.count, name);
    std::ranges::sort(rows, std::greater());
    std::set<std::string> first;
    for (std::size_t i = 0; i < 10; ++i) first.insert(rows[i].second);
    for (int i = 0; i < 8; ++i) EXPECT_TRUE(first.contains(std::to_string(i))) << i;
}

}   // namespace
}   // namespace garner
