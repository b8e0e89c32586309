#include "sim/shadow.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "policy/policies.hpp"
#include "support/trace.hpp"

namespace garner::sim {
namespace {

Fingerprint of_key(std::uint64_t key) { return fingerprint({reinterpret_cast<char const*>(&key), sizeof key}, 7); }

Shadow::Terms terms(Bytes capacity, std::vector<std::string> policies = {"lru", "gdsf"}) {
    Shadow::Terms terms;
    terms.capacity = capacity;
    terms.policies = std::move(policies);
    return terms;
}

/// Samples requests like the running proxy.
void request(Shadow& shadow, std::uint64_t key, Bytes size) {
    if (auto fingerprint = of_key(key); fingerprint <= shadow.below()) shadow.request(sample_of(fingerprint, size));
    shadow.all_requests(1, size);
}

WhatIf::Row row_of(WhatIf const& what_if, std::string const& policy, Bytes size) {
    for (auto const& row : what_if.rows)
        if (row.policy == policy && row.size == size) return row;
    ADD_FAILURE() << "no row for " << policy << " at " << size;
    return {};
}

TEST(Shadow, at_rate_1_every_row_is_a_cache_of_its_own) {
    Shadow shadow(terms(1'000, {"lru"}));
    // 8 objects of 200 bytes in a loop: LRU hits none of them in 500, 1,000 or 1,500 bytes, and all of them in 2,000.
    for (int round = 0; round < 10; ++round)
        for (std::uint64_t key = 0; key < 8; ++key) request(shadow, key, 200);
    auto const what_if = shadow.what_if();
    EXPECT_EQ(what_if.rate, 1);
    EXPECT_EQ(what_if.requests, 80u);
    EXPECT_EQ(what_if.expected_requests, 80);
    EXPECT_EQ(what_if.expected_bytes, 16'000);
    ASSERT_EQ(what_if.rows.size(), 4u);
    EXPECT_EQ(row_of(what_if, "lru", 500).misses, 80u);
    EXPECT_EQ(row_of(what_if, "lru", 1'000).misses, 80u);
    EXPECT_EQ(row_of(what_if, "lru", 2'000).misses, 8u);
    EXPECT_EQ(row_of(what_if, "lru", 4'000).missed_bytes, 1'600u);
    EXPECT_DOUBLE_EQ(what_if.object_hit_ratio(row_of(what_if, "lru", 2'000)), 0.9);
    EXPECT_FALSE(what_if.is_enough());
}

TEST(Shadow, the_rate_falls_with_the_objects_held_and_the_samples_stay_bounded) {
    auto few = terms(64 * MiB);
    few.objects_max = 512;
    Shadow shadow(few);
    for (std::uint64_t i = 0; i < 200'000; ++i) request(shadow, i % 20'000, 100);
    auto const what_if = shadow.what_if();
    EXPECT_LE(what_if.rate, 1.0 / 32);
    EXPECT_GE(what_if.rate, 1.0 / 64);
    EXPECT_LT(what_if.metadata, 1 * MiB);
    // All keys fit: after the first round all requests are hits, whatever the rate.
    EXPECT_NEAR(what_if.object_hit_ratio(row_of(what_if, "lru", 64 * MiB)), 0.9, 0.02);
}

TEST(Shadow, its_memory_is_within_its_bound_with_every_policy) {
    for (auto const& row : policy::all()) {
        Shadow shadow(terms(64 * MiB, {std::string(row.name)}));
        Bytes most = 0;
        for (std::uint64_t key = 0; key < 12'000; ++key) {
            request(shadow, key, 100 + key % 1'000);
            if (key % 1'000 == 0) most = std::max(most, shadow.what_if().metadata);
        }
        EXPECT_GT(most, 100 * KiB) << row.name;
        EXPECT_LE(most, shadow.what_if().metadata_max) << row.name;
    }
}

TEST(Shadow, a_lower_rate_begins_warm) {
    Shadow shadow(terms(MiB, {"lru"}));
    for (std::uint64_t i = 0; i < 4'000; ++i) request(shadow, i % 1'000, 100);
    auto const before = shadow.what_if();
    shadow.pace(60'000, 1);   // 15,000 are allowed for 4 miniature caches
    auto const lowered = shadow.what_if();
    EXPECT_DOUBLE_EQ(lowered.rate, 0.25);
    EXPECT_EQ(lowered.requests, before.requests / 4);
    EXPECT_NE(lowered.epoch, before.epoch);
    for (std::uint64_t i = 0; i < 1'000; ++i) request(shadow, i, 100);
    EXPECT_GT(shadow.what_if().requests, lowered.requests);
    EXPECT_EQ(row_of(shadow.what_if(), "lru", MiB).misses, row_of(lowered, "lru", MiB).misses);
}

TEST(Shadow, the_rate_rises_again_after_a_quiet_while) {
    Shadow shadow(terms(MiB, {"lru"}));
    shadow.pace(1'000'000, 1);
    auto const low = shadow.what_if().rate;
    for (int i = 0; i < 59; ++i) shadow.pace(10, 1);
    EXPECT_EQ(shadow.what_if().rate, low);
    shadow.pace(10, 1);
    EXPECT_EQ(shadow.what_if().rate, 2 * low);
    for (int i = 0; i < 100'000; ++i) shadow.pace(10, 1);
    EXPECT_EQ(shadow.what_if().rate, 1);
}

TEST(Shadow, another_size_begins_to_count_anew_with_warm_miniatures) {
    Shadow shadow(terms(10'000, {"lru"}));
    for (std::uint64_t i = 0; i < 3'000; ++i) request(shadow, i % 30, 500);
    auto const forgotten = shadow.forgotten();
    shadow.change(terms(20'000, {"lru", "gdsf"}));
    EXPECT_GT(shadow.forgotten(), forgotten);
    EXPECT_EQ(shadow.what_if().requests, 0u);
    for (std::uint64_t i = 0; i < 3'000; ++i) request(shadow, i % 30, 500);
    auto const what_if = shadow.what_if();
    ASSERT_EQ(what_if.rows.size(), 8u);
    EXPECT_EQ(row_of(what_if, "lru", 20'000).misses, 0u);
    EXPECT_EQ(row_of(what_if, "lru", 10'000).misses, 3'000u);
}

/// Runs all requests through a cache of that size and through its shadow, and compares them. Returns the sampling rate.
double expect_close(std::vector<test::TraceRequest> const& requests, Bytes size, std::uint32_t objects_max) {
    auto of_shadow = terms(size, {"lru", "gdsf"});
    of_shadow.objects_max = objects_max;
    Shadow shadow(of_shadow);
    for (auto const& one : requests) request(shadow, one.key, one.size);
    auto const what_if = shadow.what_if();
    for (auto const& row : what_if.rows) {
        policy::Options options;
        options.capacity = row.size;
        Tier whole(policy::make(row.policy, options), row.size);
        WhatIf truth;
        WhatIf::Row exact;
        for (auto const& one : requests) {
            truth.expected_requests += 1;
            truth.expected_bytes += static_cast<double>(one.size);
            if (whole.request(static_cast<std::uint32_t>(one.key), one.size)) continue;
            ++exact.misses;
            exact.missed_bytes += one.size;
        }
        auto const told = row.policy + " at " + std::to_string(row.size) + ", rate " + std::to_string(what_if.rate);
        EXPECT_NEAR(100 * what_if.object_hit_ratio(row), 100 * truth.object_hit_ratio(exact), 3) << told;
        EXPECT_NEAR(100 * what_if.byte_hit_ratio(row), 100 * truth.byte_hit_ratio(exact), 3) << told;
    }
    return what_if.rate;
}

TEST(Shadow, what_it_says_is_close_to_a_replay_of_everything) {
    auto const requests = test::read_trace("wc98_day6_sample");
    auto const unique = test::unique_bytes(requests);
    for (Bytes part : {1'000, 100, 10}) expect_close(requests, unique / part, 8'192);
}

TEST(Shadow, so_it_is_at_a_low_rate) {
    // Zipf with exponent 0.9 over 60,000 objects of 1 to 63 KB: chance decides if the few hottest are sampled.
    std::vector<double> until;
    for (int rank = 1; rank <= 60'000; ++rank) until.push_back((until.empty() ? 0 : until.back()) + std::pow(rank, -0.9));
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> any(0, until.back());
    std::vector<test::TraceRequest> requests;
    for (int i = 0; i < 400'000; ++i) {
        auto const found = std::lower_bound(until.begin(), until.end(), any(random));
        auto const key = static_cast<std::uint64_t>(found - until.begin());
        requests.push_back({key, 1'000 * (1 + key * 7'919 % 63)});
    }
    EXPECT_LE(expect_close(requests, 200 * MiB, 4'096), 1.0 / 8);
}

}   // namespace
}   // namespace garner::sim
