// Many replays at once: their order, their sizes, and scaling from a sample.
#include "sim/runs.hpp"

#include <gtest/gtest.h>

#include <random>

namespace garner::sim {
namespace {

/// Keys of equal size; the low ones are requested most.
Trace trace_of(std::uint32_t keys, std::size_t requests) {
    Trace trace;
    std::mt19937_64 random(7);
    for (std::size_t i = 0; i < requests; ++i) {
        trace.keys.push_back(static_cast<std::uint32_t>(std::min({random() % keys, random() % keys, random() % keys})));
        trace.sizes.push_back(1'000);
    }
    trace.distinct = keys;
    trace.unique_bytes = Bytes{keys} * 1'000;
    trace.bytes = requests * Bytes{1'000};
    return trace;
}

SimOptions options(std::vector<std::string> words) {
    words.insert(words.begin(), {"--trace", "t"});
    auto read = read_sim_options(words);
    EXPECT_EQ(read.fault, "");
    return read.options;
}

bool nobody(Progress const&) { return true; }

TEST(Runs, come_by_size_and_then_as_the_policies_were_named) {
    auto results = run_all(trace_of(500, 20'000), options({"--policy=gdsf,infinite,lru", "--size=10%,2KiB"}), nobody);
    ASSERT_EQ(results.size(), 6u);
    char const* const policies[]{"gdsf", "infinite", "lru"};
    for (std::size_t i = 0; i < results.size(); ++i) {
        EXPECT_EQ(results[i].policy, policies[i % 3]);
        EXPECT_EQ(results[i].size, i < 3 ? 50'000u : 2'048u);
        EXPECT_EQ(results[i].requests, 20'000u);
        EXPECT_EQ(results[i].bytes, 20'000'000u);
    }
    EXPECT_LT(results[2].misses, results[5].misses);
}

TEST(Runs, begin_no_other_replay_once_they_are_to_stop) {
    std::string sizes = "--size=1KB";
    for (int kilobytes = 2; kilobytes <= 200; ++kilobytes) sizes += "," + std::to_string(kilobytes) + "KB";
    auto const results =
        run_all(trace_of(500, 400'000), options({"--policy=lru", sizes, "--threads=1"}), [](Progress const& progress) {
            EXPECT_EQ(progress.of, 200u);
            return false;
        });
    EXPECT_LT(results.size(), 200u);
    for (auto const& result : results) EXPECT_EQ(result.requests, 400'000u);
}

TEST(Runs, are_the_same_on_any_number_of_threads) {
    auto const trace = trace_of(2'000, 30'000);
    auto misses = [&](char const* threads) {
        std::vector<double> found;
        for (auto const& result : run_all(trace, options({"--size=1%,5%", "--threads", threads}), nobody))
            found.push_back(result.misses);
        return found;
    };
    EXPECT_EQ(misses("1"), misses("7"));
}

TEST(Runs, a_sample_is_replayed_through_as_much_less_and_counts_for_its_share_of_all) {
    auto trace = trace_of(500, 10'000);
    trace.requests_left_out = 50'000;
    trace.bytes_left_out = 50'000'000;
    auto results = run_all(trace, options({"--policy=lru", "--size=100KB,10%", "--sample=0.25"}), nobody);
    EXPECT_EQ(results[0].size, 100'000u);   // the requested size; 25,000 was replayed
    EXPECT_EQ(results[1].size, 200'000u);   // a tenth of the sample's bytes, times four
    for (auto const& result : results) {
        EXPECT_EQ(result.requests, 15'000u);   // a quarter of 60,000: requests missing from the sample count as hits
        EXPECT_EQ(result.bytes, 15'000'000u);
    }
    auto whole = run_all(trace_of(500, 10'000), options({"--policy=lru", "--size=25KB,50KB"}), nobody);
    EXPECT_EQ(results[0].misses, whole[0].misses);
    EXPECT_EQ(results[1].misses, whole[1].misses);
}

TEST(Runs, an_object_that_may_not_be_stored_is_missed_each_time) {
    auto results = run_all(trace_of(10, 1'000), options({"--policy=lru", "--size=1MB", "--object-max=999"}), nobody);
    EXPECT_EQ(results[0].misses, 1'000);
}

TEST(Runs, of_an_empty_trace_miss_nothing) {
    auto results = run_all({}, options({"--policy=lru,pfool,belady-size", "--size=1MB,50%"}), nobody);
    for (auto const& result : results) EXPECT_EQ(result.misses, 0);
}

}   // namespace
}   // namespace garner::sim
