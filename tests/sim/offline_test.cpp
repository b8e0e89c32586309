// The offline references against exhaustive search, against naive implementations
// of their definitions, and against published figures for real traces.
#include "sim/offline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "policy/policies.hpp"
#include "policy/replay.hpp"
#include "sim/traces.hpp"

namespace garner::sim {
namespace {

/// The minimum misses of any cache, for objects or for bytes: tries every choice of objects to keep after each request.
double fewest_misses(Trace const& trace, Bytes budget, bool in_bytes) {
    std::vector<Bytes> sizes(trace.distinct);
    for (std::size_t i = 0; i < trace.requests(); ++i) sizes[trace.keys[i]] = trace.sizes[i];
    std::map<unsigned, double> missed_so_far{{0u, 0.0}};   // by the set of held keys, one bit per key
    for (std::size_t i = 0; i < trace.requests(); ++i) {
        std::map<unsigned, double> then;
        unsigned const asked = 1u << trace.keys[i];
        for (auto [held, missed] : missed_so_far) {
            if (!(held & asked)) missed += in_bytes ? static_cast<double>(trace.sizes[i]) : 1.0;
            for (unsigned kept = held | asked, all = kept;; kept = (kept - 1) & all) {
                Bytes occupied = 0;
                for (std::uint32_t key = 0; key < trace.distinct; ++key) occupied += kept >> key & 1 ? sizes[key] : 0;
                if (occupied <= budget) {
                    auto known = then.try_emplace(kept, missed).first;
                    known->second = std::min(known->second, missed);
                }
                if (kept == 0) break;
            }
        }
        missed_so_far = std::move(then);
    }
    double fewest = INFINITY;
    for (auto [held, missed] : missed_so_far) fewest = std::min(fewest, missed);
    return fewest;
}

/// Belady's rules literally: scans ahead for each object at each eviction.
double plain_misses(Trace const& trace, Bytes budget, bool by_size) {
    std::map<std::uint32_t, Bytes> held;
    Bytes occupied = 0;
    double misses = 0;
    auto distance = [&](std::uint32_t key, std::size_t now) {
        auto from = trace.keys.begin() + static_cast<std::ptrdiff_t>(now);
        auto next = std::find(from + 1, trace.keys.end(), key);
        return next == trace.keys.end() ? std::size_t{0} : static_cast<std::size_t>(next - from);
    };
    for (std::size_t now = 0; now < trace.requests(); ++now) {
        auto key = trace.keys[now];
        if (!held.contains(key)) {
            misses += 1;
            if (trace.sizes[now] > budget) continue;
            occupied += held[key] = trace.sizes[now];
        }
        if (distance(key, now) == 0) occupied -= held[key], held.erase(key);
        while (occupied > budget) {
            auto cost = [&](auto const& item) {
                auto far = distance(item.first, now);
                return std::pair(by_size ? item.second * far : far, far);
            };
            auto leaves =
                std::max_element(held.begin(), held.end(), [&](auto const& a, auto const& b) { return cost(a) < cost(b); });
            occupied -= leaves->second;
            held.erase(leaves);
        }
    }
    return misses;
}

TEST(Offline, belady_is_optimal_where_sizes_are_equal) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        auto trace = trace_of(random_requests(seed, {.requests = 24, .keys = 6}));
        for (Bytes budget = 0; budget <= 4; ++budget)
            EXPECT_EQ(belady(trace, budget).misses, fewest_misses(trace, budget, false)) << seed << ", " << budget;
    }
}

TEST(Offline, both_forms_of_belady_do_what_they_say) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        auto trace = trace_of(random_requests(seed, {.requests = 200, .keys = 20, .largest = 9}));
        for (Bytes budget : {5, 12, 30}) {
            EXPECT_EQ(belady(trace, budget).misses, plain_misses(trace, budget, false)) << seed << ", " << budget;
            EXPECT_EQ(belady_size(trace, budget).misses, plain_misses(trace, budget, true)) << seed << ", " << budget;
        }
    }
}

TEST(Offline, no_cache_misses_less_than_the_bound) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        auto trace = trace_of(random_requests(seed, {.requests = 24, .keys = 6, .largest = 5}));
        Bytes const largest = *std::max_element(trace.sizes.begin(), trace.sizes.end());
        for (Bytes budget : {0, 2, 4, 7, 11}) {
            auto bound = pfool(trace, budget);
            EXPECT_LE(bound.misses, fewest_misses(trace, budget, false)) << seed << ", " << budget;
            // By definition, at most one object above the fractional bound.
            EXPECT_LE(bound.missed_bytes - static_cast<double>(largest), fewest_misses(trace, budget, true)) << seed;
        }
    }
}

TEST(Offline, no_policy_misses_less_than_the_bound) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        auto requests = random_requests(seed, {.requests = 5000, .keys = 300, .largest = 100});
        auto trace = trace_of(requests);
        for (auto name : {"lru", "gdsf"})
            for (Bytes budget : {trace.unique_bytes / 50, trace.unique_bytes / 4}) {
                auto policy = policy::make(name, {.capacity = budget});
                policy::Replay cache(*policy, budget);
                for (auto const& request : requests) cache.request(request.key, request.size);
                auto bound = pfool(trace, budget);
                EXPECT_LE(bound.misses, static_cast<double>(cache.misses)) << name << ", " << seed;
                EXPECT_LE(bound.missed_bytes, static_cast<double>(cache.missed_bytes)) << name << ", " << seed;
            }
    }
}

TEST(Offline, a_cache_without_bounds_misses_first_requests_only) {
    auto trace = trace_of({{7, 30}, {8, 50}, {7, 30}, {9, 1}, {9, 1}});
    auto result = infinite(trace, 10);
    EXPECT_EQ(result.misses, 3);
    EXPECT_EQ(result.missed_bytes, 81);
    EXPECT_EQ(result.requests, 5u);
    EXPECT_EQ(result.bytes, 112u);
    for (auto const& reference : references()) {
        EXPECT_EQ(reference.run(trace, 1000).misses, 3) << reference.name;
        EXPECT_EQ(reference.run(trace, 1000).missed_bytes, 81) << reference.name;
    }
}

TEST(Offline, an_object_that_is_not_asked_for_again_takes_no_room) {
    auto trace = trace_of({{1, 10}, {2, 10}, {3, 10}, {1, 10}, {4, 10}, {4, 10}});
    auto result = belady(trace, 10);
    EXPECT_EQ(result.misses, 4);
    EXPECT_EQ(result.objects_most, 1u);
}

TEST(Offline, empty_traces_and_objects_of_no_bytes_do_no_harm) {
    auto none = trace_of({});
    auto weightless = trace_of({{1, 0}, {2, 5}, {1, 0}, {2, 5}, {1, 0}});
    for (auto const& reference : references()) {
        EXPECT_EQ(reference.run(none, 100).object_miss_ratio(), 0) << reference.name;
        EXPECT_EQ(reference.run(weightless, 0).misses, reference.name == "infinite" ? 2 : 3) << reference.name;
    }
}

TEST(Offline, references_are_found_by_name_and_say_it) {
    auto trace = trace_of({{1, 1}});
    for (auto const& reference : references()) {
        EXPECT_EQ(find_reference(reference.name), &reference);
        EXPECT_EQ(reference.run(trace, 7).policy, reference.name);
        EXPECT_EQ(reference.run(trace, 7).size, 7u);
        EXPECT_FALSE(policy::read_spec(reference.name)) << "a policy has the same name";
    }
    EXPECT_EQ(find_reference("lru"), nullptr);
}

struct Cell {
    char const* trace;
    Bytes divisor;   // the budget is the trace's unique bytes divided by this, rounded down
    double misses, byte_misses;
};

constexpr Cell bounds[] = {
    {"nasa_19950801", 1000, .3385, .8422},    {"nasa_19950801", 100, .1536, .6171},    {"nasa_19950801", 10, .0678, .3383},
    {"wc98_day6_sample", 1000, .4065, .8719}, {"wc98_day6_sample", 100, .1296, .6323}, {"wc98_day6_sample", 10, .0212, .1759},
};

long ten_thousandths(double ratio) { return std::lround(ratio * 10'000); }

TEST(Offline, real_traces_give_the_published_bounds) {
    std::map<std::string, Trace> traces;
    for (auto const& cell : bounds) {
        auto& trace = traces[cell.trace];
        if (trace.requests() == 0) trace = trace_of(test::read_trace(cell.trace));
        auto bound = pfool(trace, trace.unique_bytes / cell.divisor);
        SCOPED_TRACE(testing::Message() << cell.trace << " 1/" << cell.divisor);
        EXPECT_EQ(ten_thousandths(bound.object_miss_ratio()), ten_thousandths(cell.misses));
        EXPECT_EQ(ten_thousandths(bound.byte_miss_ratio()), ten_thousandths(cell.byte_misses));
    }
}

}   // namespace
}   // namespace garner::sim
