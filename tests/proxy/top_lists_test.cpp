#include "proxy/top_lists.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace garner::proxy {
namespace {

constexpr auto some_client = IpAddress::v4(10, 0, 0, 7);

TopUse use(std::string_view host, Bytes bytes = 0) {
    TopUse use;
    use.host = host;
    use.client = some_client;
    use.client_text = "10.0.0.7";
    use.bytes = bytes;
    return use;
}

SteadyTime at(std::int64_t second) { return SteadyTime{} + std::chrono::hours(1) + seconds{second}; }

/// Requests by host, over both periods.
std::map<std::string, std::uint64_t> hosts(TopLists const& lists, SteadyTime now) {
    std::map<std::string, std::uint64_t> all;
    auto const copy = lists.copy(now);
    for (auto const& one : *copy)
        one.hosts.for_each(
            [&](std::string_view name, std::uint64_t requests, TopDetails const&) { all[std::string(name)] += requests; });
    return all;
}

TEST(TopLists, count_hosts_clients_and_misses) {
    TopLists lists;
    auto missed = use("a.example", 100);
    missed.missed_url = "http://a.example/x";
    missed.reason = "no-store in response";
    lists.add(missed, at(0));
    auto hit = use("b.example", 7);
    hit.is_hit = true;
    lists.add(hit, at(1));
    EXPECT_EQ(hosts(lists, at(2)), (std::map<std::string, std::uint64_t>{{"a.example", 1}, {"b.example", 1}}));
    auto const copy = lists.copy(at(2));
    Bytes bytes = 0;
    std::uint64_t hits = 0, misses = 0;
    std::string reason, url;
    for (auto const& one : *copy) {
        one.clients.for_each([&](std::string_view name, std::uint64_t requests, TopDetails const& details) {
            EXPECT_EQ(name, "10.0.0.7");
            EXPECT_EQ(requests, 2u);
            bytes += details.bytes;
            hits += details.hits;
        });
        one.misses.for_each([&](std::string_view name, std::uint64_t requests, TopDetails const& details) {
            url = name;
            misses += requests;
            reason = details.reason.view();
        });
    }
    EXPECT_EQ(bytes, 107u);
    EXPECT_EQ(hits, 1u);
    EXPECT_EQ(misses, 1u);
    EXPECT_EQ(url, "http://a.example/x");
    EXPECT_EQ(reason, "no-store in response");
}

TEST(TopLists, parts_of_a_long_transfer_add_bytes_and_no_requests) {
    TopLists lists;
    lists.add(use("a.example", 1'000), at(0));
    auto part = use("a.example", 500);
    part.requests = 0;
    lists.add(part, at(1));
    EXPECT_EQ(hosts(lists, at(1)).at("a.example"), 1u);
    Bytes bytes = 0;
    auto const copy = lists.copy(at(1));
    for (auto const& one : *copy)
        one.hosts.for_each([&](std::string_view, std::uint64_t, TopDetails const& details) { bytes += details.bytes; });
    EXPECT_EQ(bytes, 1'500u);
}

TEST(TopLists, forget_what_is_older_than_ten_minutes) {
    TopLists lists;
    lists.add(use("old.example"), at(0));
    lists.add(use("young.example"), at(310));
    EXPECT_EQ(hosts(lists, at(311)).size(), 2u) << "one in each period";
    lists.add(use("new.example"), at(620));
    EXPECT_EQ(hosts(lists, at(620)), (std::map<std::string, std::uint64_t>{{"young.example", 1}, {"new.example", 1}}));
    EXPECT_EQ(hosts(lists, at(930)), (std::map<std::string, std::uint64_t>{{"new.example", 1}})) << "also without requests";
    EXPECT_TRUE(hosts(lists, at(1'300)).empty());
    lists.add(use("late.example"), at(9'000));
    EXPECT_EQ(hosts(lists, at(9'000)), (std::map<std::string, std::uint64_t>{{"late.example", 1}}));
}

TEST(TopLists, take_little_memory) { EXPECT_LE(sizeof(TopLists), 300 * KiB); }

/// The sum of the weights of so many hits at this distance.
std::uint64_t weights(HitSampler& sampler, int hits, microseconds apart, SteadyTime& now) {
    std::uint64_t sum = 0;
    for (int i = 0; i < hits; ++i) sum += sampler.weight(now += apart);
    return sum;
}

TEST(HitSampler, counts_each_hit_at_a_low_rate) {
    HitSampler sampler;
    auto now = at(0);
    EXPECT_EQ(weights(sampler, 5'000, microseconds{1'500}, now), 5'000u);
}

TEST(HitSampler, counts_the_first_hits_of_a_burst) {
    HitSampler sampler;
    auto now = at(0);
    EXPECT_EQ(weights(sampler, 200, microseconds{10}, now), 200u);
}

TEST(HitSampler, stands_for_all_hits_at_a_high_rate_and_counts_each_again_later) {
    HitSampler sampler;
    auto now = at(0);
    constexpr int many = 400'000;
    EXPECT_NEAR(static_cast<double>(weights(sampler, many, microseconds{10}, now)), many, many * 0.03);
    weights(sampler, 10'000, microseconds{1'500}, now);
    EXPECT_EQ(weights(sampler, 1'000, microseconds{1'500}, now), 1'000u);
}

}   // namespace
}   // namespace garner::proxy
