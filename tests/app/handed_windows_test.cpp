// The samples behind the windows in messages of a takeover: recorded, read, refused.
#include "app/handed_windows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "support/places.hpp"

namespace garner::app {
namespace {

using takeover::Json;
using testing::HasSubstr;

constexpr std::size_t message_max = 65'536;

LatencySnapshot times(std::initializer_list<int> micros) {
    Histogram all;
    for (int const one : micros) all.add(microseconds(one));
    return all.snapshot();
}

admin::Past example() {
    admin::Past past;
    past.samples = {{.age = seconds{10},
                     .since = {.requests = 5,
                               .hits = 3,
                               .bytes = 5'000'000'000,
                               .hit_bytes = 4,
                               .all_requests = 9,
                               .failed = 1,
                               .refused = 2,
                               .lost_lines = 7}},
                    {.age = seconds{5}, .since = {}}};
    past.latencies.dense = {{.age = seconds{20}, .times = {times({10, 10, 900}), times({5'000})}}};
    past.latencies.sparse = {{.age = seconds{60}, .times = {times({1}), {}}}};
    past.history.fine.past.resize(1);
    past.history.fine.past[0][0] = 2.5;
    past.history.coarse.age = seconds{30};
    past.history.coarse.since[0] = {7, 0};
    return past;
}

Result<admin::Past> read_all(std::vector<Json> const& messages) {
    admin::Past past;
    for (auto const& message : messages)
        if (auto const read = read_windows(Json::from_cbor(Json::to_cbor(message)), past); !read) return read.fault();
    return past;
}

std::vector<Json> sent(admin::Past const& past) {
    auto all = window_messages(past);
    for (auto const& message : all) EXPECT_LT(Json::to_cbor(message).size(), message_max);
    return all;
}

/// Of example().
void expect_example(admin::Past const& past) {
    ASSERT_EQ(past.samples.size(), 2u);
    EXPECT_EQ(past.samples[0].age, seconds{10});
    EXPECT_EQ(past.samples[0].since.bytes, 5'000'000'000u);
    EXPECT_EQ(past.samples[0].since.lost_lines, 7u);
    ASSERT_EQ(past.latencies.dense.size(), 1u);
    EXPECT_EQ(past.latencies.dense[0].times.hit.total, 3u);
    EXPECT_EQ(past.latencies.dense[0].times.hit.sum_micros, 920u);
    EXPECT_EQ(past.latencies.dense[0].times.hit.buckets, times({10, 10, 900}).buckets);
    EXPECT_EQ(past.latencies.dense[0].times.miss.total, 1u);
    ASSERT_EQ(past.latencies.sparse.size(), 1u);
    ASSERT_EQ(past.history.fine.past.size(), 1u);
    EXPECT_EQ(past.history.fine.past[0][0], 2.5);
    EXPECT_EQ(past.history.fine.past[0][1], std::nullopt);
    EXPECT_EQ(past.history.fine.age, std::nullopt);
    EXPECT_TRUE(past.history.coarse.past.empty());
    EXPECT_EQ(past.history.coarse.age, milliseconds{30'000});
    EXPECT_EQ(past.history.coarse.since[0].part, 7);
}

TEST(HandedWindows, are_read_as_they_were_written) {
    auto const past = read_all(sent(example()));
    ASSERT_TRUE(past) << past.fault_text();
    expect_example(*past);
}

TEST(HandedWindows, are_those_that_were_recorded) {
    auto const file = test::source("tests/data/takeover/1/state.windows.cbor");
    auto message = takeover::plain("state");
    for (auto const& one : window_messages(example())) message.update(one);
    auto const bytes = Json::to_cbor(message);
    if (std::getenv("GARNER_WRITE")) std::ofstream(file, std::ios::binary) << std::string(bytes.begin(), bytes.end());
    std::ifstream recorded(file, std::ios::binary);
    std::string const before((std::istreambuf_iterator<char>(recorded)), {});
    EXPECT_EQ(before, std::string(bytes.begin(), bytes.end()));
    auto const past = read_all({Json::from_cbor(before)});
    ASSERT_TRUE(past) << past.fault_text();
    expect_example(*past);
}

TEST(HandedWindows, of_an_hour_under_load_fit_in_messages) {
    admin::Past past;
    LatencySnapshot full;
    full.buckets.fill(UINT64_MAX / full.buckets.size());
    full.sum_micros = UINT64_MAX;
    for (auto i = admin::Samples::most; i > 0; --i) {
        auto& one = past.samples.emplace_back();
        one.age = seconds{5 * i};
        for (auto const count : admin::sample_counts) one.since.*count = UINT64_MAX;
    }
    for (auto i = admin::LatencySamples::sparse_most; i > 0; --i)
        past.latencies.sparse.push_back({.age = seconds{60 * i}, .times = {full, full}});
    past.history.fine.past.resize(admin::History::fine_most);
    for (auto& values : past.history.fine.past) values.fill(1e300);
    auto const read = read_all(sent(past));
    ASSERT_TRUE(read) << read.fault_text();
    EXPECT_EQ(read->samples.size(), admin::Samples::most);
    EXPECT_EQ(read->latencies.sparse.size(), admin::LatencySamples::sparse_most);
    EXPECT_EQ(read->history.fine.past.size(), admin::History::fine_most);
}

TEST(HandedWindows, may_be_missing_and_may_have_other_series) {
    EXPECT_TRUE(read_all({takeover::plain("state")}));
    auto message = takeover::plain("state");
    message["series"] = {"unknown", "hits"};
    message["history"] = {{{"interval_s", 5}, {"values", {1, 2}}}, {{"interval_s", 7}, {"values", {3, 4}}}};
    auto const past = read_all({message});
    ASSERT_TRUE(past) << past.fault_text();
    ASSERT_EQ(past->history.fine.past.size(), 1u);
    EXPECT_EQ(past->history.fine.past[0][0], std::nullopt);
    EXPECT_EQ(past->history.fine.past[0][1], 2) << "hits";
    EXPECT_TRUE(past->history.coarse.past.empty());
}

TEST(HandedWindows, name_the_member_that_is_wrong) {
    auto const all = [] {
        auto message = takeover::plain("state");
        for (auto const& one : window_messages(example())) message.update(one);
        return message;
    }();
    auto const trouble = [&](char const* pointer, Json const& value) {
        auto message = all;
        message[Json::json_pointer(pointer)] = value;
        return read_all({message}).fault_text();
    };
    EXPECT_THAT(trouble("/samples/0/age_ms", -1), HasSubstr("\"samples\""));
    EXPECT_THAT(trouble("/samples/0/age_ms", 4'000), HasSubstr("\"samples\"")) << "not the oldest";
    EXPECT_THAT(trouble("/samples/0/age_ms", 1'000'000'000'000), HasSubstr("\"samples\""));
    EXPECT_THAT(trouble("/samples/0/hits", "3"), HasSubstr("\"samples\""));
    EXPECT_THAT(trouble("/samples", 3), HasSubstr("\"samples\""));
    EXPECT_THAT(trouble("/latencies/0/hit", {1, 2}), HasSubstr("\"latencies\"")) << "a bucket without a count";
    EXPECT_THAT(trouble("/latencies/0/hit", {1, 100'000, 1}), HasSubstr("\"latencies\"")) << "no such bucket";
    EXPECT_THAT(trouble("/latencies/0/hit", Json::array()), HasSubstr("\"latencies\""));
    EXPECT_THAT(trouble("/history/0/values", {"x"}), HasSubstr("\"history\""));
    EXPECT_THAT(trouble("/history/0/interval_s", "x"), HasSubstr("\"history\""));
    EXPECT_THAT(trouble("/series", 1), HasSubstr("\"series\""));
}

}   // namespace
}   // namespace garner::app
