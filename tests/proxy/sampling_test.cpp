#include "proxy/sampling.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace garner::proxy {
namespace {

/// Samples a request like a worker.
void request(Sampler& sampler, std::uint64_t key, Bytes size) {
    auto const of_key = fingerprint({reinterpret_cast<char const*>(&key), sizeof key}, 3);
    if (sampler.request(of_key, size)) sampler.sample(sim::sample_of(of_key, size));
}

sim::WhatIf::Row row_of(sim::WhatIf const& what_if, std::string const& policy, Bytes size) {
    for (auto const& row : what_if.rows)
        if (row.policy == policy && row.size == size) return row;
    ADD_FAILURE() << "no row for " << policy << " at " << size;
    return {};
}

TEST(Sampling, what_all_workers_saw_is_one_traffic) {
    Sampling sampling(2);
    sampling.run(8'000, "lru", std::nullopt);
    for (std::uint64_t i = 0; i < 1'000; ++i) {
        request(sampling.of_worker(0), i % 10, 500);
        request(sampling.of_worker(1), i % 10, 500);
    }
    auto const report = sampling.report(steady_now());
    EXPECT_EQ(report.policy, "lru");
    EXPECT_EQ(report.dropped, 0u);
    EXPECT_EQ(report.what_if.requests, 2'000u);
    EXPECT_EQ(report.what_if.expected_bytes, 1e6);
    EXPECT_EQ(row_of(report.what_if, "lru", 8'000).misses, 10u);
}

TEST(Sampling, nothing_is_told_before_it_is_known_what_runs) {
    Sampling sampling(1);
    request(sampling.of_worker(0), 1, 1);
    EXPECT_TRUE(sampling.report(steady_now()).what_if.rows.empty());
    EXPECT_FALSE(sampling.look(steady_now()));
}

TEST(Sampling, a_full_buffer_drops_and_the_estimate_does_not_take_that_for_hits) {
    Sampling sampling(1);
    sampling.run(1'000, "lru", sim::AutoPolicy::Terms());                                // no budget
    for (std::uint64_t i = 0; i < 10'000; ++i) request(sampling.of_worker(0), i, 500);   // misses only
    auto const report = sampling.report(steady_now());
    EXPECT_EQ(report.what_if.requests, Sampler::samples_max);
    EXPECT_EQ(report.dropped, 10'000 - Sampler::samples_max);
    EXPECT_NEAR(report.what_if.object_hit_ratio(row_of(report.what_if, "lru", 1'000)), 0, 1e-6);
    EXPECT_NEAR(report.what_if.byte_hit_ratio(row_of(report.what_if, "lru", 1'000)), 0, 1e-6);
}

TEST(Sampling, when_samples_come_too_fast_the_rate_falls) {
    Sampling sampling(1);
    sampling.run(1'000, "lru", std::nullopt);
    auto now = steady_now();
    EXPECT_EQ(sampling.report(now).what_if.rate, 1);
    for (std::uint64_t i = 0; i < 100'000; ++i) request(sampling.of_worker(0), i, 500);
    sampling.report(now += seconds{1});
    EXPECT_LT(sampling.report(now).what_if.rate, 1);
}

TEST(Sampling, replays_the_first_requests_and_then_one_in_128) {
    Sampling sampling(1);
    sampling.run(1'000, "lru", std::nullopt);
    auto now = steady_now();
    std::uint64_t key = 0;
    auto const second = [&](int requests) {
        for (int i = 0; i < requests; ++i) request(sampling.of_worker(0), ++key, 500);   // misses only
        return sampling.report(now += seconds{1});
    };
    second(0);
    EXPECT_EQ(second(2'000).what_if.requests, 2'000u);
    EXPECT_EQ(second(1'000).what_if.rate, 1.0 / 128);
    for (int i = 0; i < 20; ++i) second(4'000);
    auto const report = sampling.report(now);
    EXPECT_LE(report.what_if.rate, 1.0 / 128);
    EXPECT_GE(report.what_if.rate, 1.0 / 512);
    EXPECT_NEAR(report.what_if.object_hit_ratio(row_of(report.what_if, "lru", 1'000)), 0, 0.2);
}

TEST(Sampling, who_begins_to_follow_gets_all_samples_again) {
    Sampling sampling(1);
    sampling.run(1'000, "lru", std::nullopt);
    auto now = steady_now();
    sampling.report(now);
    for (std::uint64_t i = 0; i < 4'000; ++i) request(sampling.of_worker(0), i, 500);
    EXPECT_LT(sampling.report(now += seconds{1}).what_if.rate, 1);
    sampling.run(1'000, "lru", sim::AutoPolicy::Terms());
    EXPECT_EQ(sampling.report(now).what_if.rate, 1);
}

TEST(Sampling, a_policy_with_settings_has_a_row_beside_the_plain_ones) {
    Sampling sampling(1);
    sampling.run(1'000, "lru", std::nullopt);
    auto const plain = sampling.report(steady_now()).what_if.rows.size();
    sampling.run(1'000, "gdsf", std::nullopt);
    EXPECT_EQ(sampling.report(steady_now()).what_if.rows.size(), plain);
    EXPECT_EQ(sampling.report(steady_now()).policy, "gdsf");
}

TEST(Sampling, who_follows_hears_of_the_better_policy_once) {
    Sampling sampling(1);
    sim::AutoPolicy::Terms terms;
    terms.window = seconds{1};
    terms.windows = 2;
    sampling.run(20'000, "lru", terms);
    auto now = steady_now();
    std::vector<std::string> changes;
    for (std::uint64_t round = 0; round < 15; ++round) {
        // Ten small objects repeatedly, among large ones that are requested once.
        for (std::uint64_t i = 0; i < 3'000; ++i)
            i % 3 ? request(sampling.of_worker(0), i % 10, 100)
                  : request(sampling.of_worker(0), 1'000'000 + round * 3'000 + i, 9'000);
        if (auto change = sampling.look(now += seconds{3})) changes.push_back(change->why);
    }
    ASSERT_EQ(changes.size(), 1u);
    EXPECT_THAT(changes[0], testing::StartsWith("lru → "));
    auto const report = sampling.report(now);
    EXPECT_NE(report.policy, "lru");
    EXPECT_EQ(report.why, changes[0]);
    sampling.run(20'000, "lru", std::nullopt);
    EXPECT_EQ(sampling.report(now).why, "");
    EXPECT_FALSE(sampling.report(now).follows);
}

TEST(Sampling, workers_and_the_one_who_replays_do_not_disturb_each_other) {
    Sampling sampling(2);
    sampling.run(100'000, "lru", std::nullopt);
    std::atomic<bool> over{false};
    std::vector<std::thread> workers;
    for (unsigned worker = 0; worker < 2; ++worker)
        workers.emplace_back([&sampling, worker] {
            for (std::uint64_t i = 0; i < 50'000; ++i) request(sampling.of_worker(worker), i % 500, 400);
        });
    std::thread asker([&] {
        while (!over) sampling.report(steady_now());
    });
    for (int i = 0; i < 20; ++i) sampling.run(i % 2 ? 100'000 : 200'000, "gdsf", std::nullopt);
    for (auto& worker : workers) worker.join();
    over = true;
    asker.join();
    auto const report = sampling.report(steady_now());
    EXPECT_LE(report.what_if.requests + report.dropped, 100'000u);
}

}   // namespace
}   // namespace garner::proxy
