#include "proxy/recent_requests.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace garner::proxy {
namespace {

RecentRequest recent_of(Fingerprint url, std::uint32_t number) {
    RecentRequest request;
    request.url = url;
    request.took_us = number;
    return request;
}

std::vector<std::uint32_t> numbers_of(RecentRequests const& requests, std::vector<Fingerprint> const& urls,
                                      std::size_t most = 100) {
    std::vector<RecentRequest> all;
    requests.find(urls, most, all);
    std::vector<std::uint32_t> numbers;
    for (auto const& each : all) numbers.push_back(each.took_us);
    return numbers;
}

TEST(RecentRequests, gives_those_of_the_URLs_latest_first) {
    RecentRequests requests(1);
    EXPECT_TRUE(numbers_of(requests, {7}).empty());
    for (std::uint32_t i = 1; i <= 6; ++i) requests.add(recent_of(i % 3, i));
    EXPECT_EQ(numbers_of(requests, {0}), (std::vector<std::uint32_t>{6, 3}));
    EXPECT_EQ(numbers_of(requests, {0, 1}), (std::vector<std::uint32_t>{6, 4, 3, 1}));
    EXPECT_EQ(numbers_of(requests, {0, 1}, 2), (std::vector<std::uint32_t>{6, 4}));
    EXPECT_TRUE(numbers_of(requests, {9}).empty());
}

TEST(RecentRequests, keep_the_values) {
    RecentRequests requests(1);
    RecentRequest const request{.url = 1,
                                .end = SteadyTime(seconds{7}),
                                .client = IpAddress::v4(10, 0, 0, 7),
                                .took_us = 340,
                                .status = 206,
                                .answer = Answer::revalidated,
                                .fwd = http::Fwd::stale};
    requests.add(request);
    std::vector<RecentRequest> all;
    requests.find(std::vector<Fingerprint>{1}, 1, all);
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].end, request.end);
    EXPECT_EQ(all[0].client, request.client);
    EXPECT_EQ(all[0].status, 206);
    EXPECT_EQ(all[0].answer, Answer::revalidated);
    EXPECT_EQ(all[0].fwd, http::Fwd::stale);
}

TEST(RecentRequests, forget_the_oldest) {
    RecentRequests requests(64);
    auto const capacity = static_cast<std::uint32_t>(requests.capacity());
    EXPECT_EQ(capacity, 1'024u);
    for (std::uint32_t i = 0; i < 2 * capacity; ++i) requests.add(recent_of(i < capacity ? 1 : 2, i));
    EXPECT_TRUE(numbers_of(requests, {1}).empty());
    EXPECT_EQ(numbers_of(requests, {2}, 2), (std::vector<std::uint32_t>{2 * capacity - 1, 2 * capacity - 2}));
}

TEST(RecentRequests, share_65536_places_among_the_workers) {
    EXPECT_EQ(RecentRequests(1).capacity(), 65'536u);
    EXPECT_EQ(RecentRequests(2).capacity(), 32'768u);
    EXPECT_EQ(RecentRequests(3).capacity(), 16'384u);
    EXPECT_EQ(RecentRequests(1'000).capacity(), 1'024u);
    EXPECT_EQ(RecentRequests(1).bytes(), 65'536u * 40);
}

/// Each request has one number in all of its words.
TEST(RecentRequests, are_read_whole_while_the_worker_adds) {
    RecentRequests requests(64);
    std::atomic<bool> stops{false};
    std::thread worker([&] {
        for (std::uint32_t i = 1; !stops; ++i) {
            auto request = recent_of(1, i);
            request.end = SteadyTime(std::chrono::nanoseconds{i});
            request.client = IpAddress::v4(i);
            requests.add(request);
        }
    });
    std::size_t seen = 0;
    auto const end = steady_now() + seconds{10};
    while (seen < 10'000 && steady_now() < end) {
        std::vector<RecentRequest> all;
        requests.find(std::vector<Fingerprint>{1}, 2'000, all);
        seen += all.size();
        for (auto const& request : all) {
            ASSERT_EQ(request.end.time_since_epoch().count(), request.took_us);
            ASSERT_EQ(request.client, IpAddress::v4(request.took_us));
        }
    }
    stops = true;
    worker.join();
    EXPECT_GE(seen, 10'000u);
}

}   // namespace
}   // namespace garner::proxy
