// Traffic of a download CDN, with sizes from 1 KiB to 1 GiB: the bounds of missed bytes against LRU in the same run.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "policy/garner.hpp"
#include "policy/lru.hpp"
#include "policy/replay.hpp"

namespace garner::policy {
namespace {

struct Traffic {
    char const* name;
    double again;      // the share of requests that repeat one of the last thousand
    double replaced;   // times that all objects are replaced by new ones
    Bytes divisor;     // the budget is the unique bytes divided by this
    bool gives_way;    // LRU misses fewer bytes than a policy by frequency
};

std::vector<test::TraceRequest> requests_of(Traffic const& traffic) {
    constexpr std::uint64_t objects = 4'000, count = 200'000;
    std::mt19937_64 random(9);
    auto share = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
    std::vector<test::TraceRequest> requests;
    for (std::uint64_t i = 0; i < count; ++i) {
        if (i > 1000 && share() < traffic.again) {
            requests.push_back(requests[i - 1 - static_cast<std::uint64_t>(1000 * share() * share())]);
            continue;
        }
        auto const rank = static_cast<std::uint64_t>(std::pow(static_cast<double>(objects), share()));   // Zipf, exponent 1
        // Each rank gets a new object from time to time.
        auto const turn =
            static_cast<std::uint64_t>(static_cast<double>(i) / count * traffic.replaced + static_cast<double>(rank % 97) / 97);
        auto const key = (rank << 16 | turn) * 0xd6e8'feb8'6659'fd93;
        auto const size = static_cast<Bytes>(1024 * std::exp2(20 * static_cast<double>(key >> 44) * 0x1p-20));
        requests.push_back({key, size});
    }
    return requests;
}

Replay run(ReplacementPolicy& policy, Bytes budget, std::vector<test::TraceRequest> const& requests) {
    Replay cache(policy, budget);
    for (auto const& request : requests) cache.request(request.key, request.size);
    return cache;
}

class HeavySizes : public testing::TestWithParam<Traffic> {};
INSTANTIATE_TEST_SUITE_P(Traffic, HeavySizes,
                         testing::Values(Traffic{"zipf", 0, 0, 30, false}, Traffic{"again", 0.7, 5, 100, true},
                                         Traffic{"again_in_a_larger_cache", 0.7, 5, 30, true}, Traffic{"drift", 0, 40, 100, true}),
                         [](auto const& one) { return one.param.name; });

TEST_P(HeavySizes, miss_few_more_bytes_than_LRU_and_fewer_objects) {
    auto const requests = requests_of(GetParam());
    auto const budget = test::unique_bytes(requests) / GetParam().divisor;
    Lru lru({});
    Garner objects({.capacity = budget}), bytes({.capacity = budget, .values = {1}});
    auto const by_lru = run(lru, budget, requests), by_objects = run(objects, budget, requests),
               by_bytes = run(bytes, budget, requests);
    SCOPED_TRACE(testing::Message() << "objects " << by_lru.miss_ratio() << ' ' << by_objects.miss_ratio() << ' '
                                    << by_bytes.miss_ratio() << "; bytes " << by_lru.byte_miss_ratio() << ' '
                                    << by_objects.byte_miss_ratio() << ' ' << by_bytes.byte_miss_ratio());
    EXPECT_LT(by_objects.miss_ratio(), 0.95 * by_lru.miss_ratio());
    EXPECT_LE(by_objects.byte_miss_ratio(), 1.02 * by_lru.byte_miss_ratio());
    EXPECT_LE(by_bytes.byte_miss_ratio(), (GetParam().gives_way ? 1.005 : 0.98) * by_lru.byte_miss_ratio());
}

}   // namespace
}   // namespace garner::policy
