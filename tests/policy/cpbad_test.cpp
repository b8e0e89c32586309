#include "policy/cpbad.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <set>
#include <string>

#include "policy/policies.hpp"
#include "policy/replay.hpp"

namespace garner::policy {
namespace {

using Contents = std::set<std::uint64_t>;

/// The content after each request of a cache of three objects.
std::vector<Contents> steps_of_figure_4(std::string_view spec, std::uint64_t& misses) {
    auto policy = make(spec, {.capacity = 3});
    Replay cache(*policy, 3);
    std::vector<Contents> steps;
    Contents held;
    for (std::uint64_t key : {1, 2, 3, 4, 4, 2, 3, 5, 1, 4, 1}) {
        cache.request(key, 1);
        for (auto left : cache.evicted) held.erase(left);
        cache.evicted.clear();
        held.insert(key);
        steps.push_back(held);
    }
    misses = cache.misses;
    return steps;
}

TEST(Cpbad, figure_4_of_the_paper) {
    std::vector<Contents> const same{{1}, {1, 2}, {1, 2, 3}, {2, 3, 4}, {2, 3, 4}, {2, 3, 4}, {2, 3, 4}};
    struct {
        char const* spec;
        std::uint64_t misses;
        std::vector<Contents> last_four;
    } const columns[] = {
        {"lfu", 8, {{2, 3, 5}, {1, 2, 3}, {2, 3, 4}, {1, 2, 3}}},
        {"lru", 7, {{2, 3, 5}, {1, 3, 5}, {1, 4, 5}, {1, 4, 5}}},
        {"cpbad:f=1/x", 6, {{3, 4, 5}, {1, 4, 5}, {1, 4, 5}, {1, 4, 5}}},
        {"cpbad:f=M/x", 6, {{3, 4, 5}, {1, 4, 5}, {1, 4, 5}, {1, 4, 5}}},
        // With F = total/x, an inserted object must be worth at least 3, which has density 7/4.
        {"cpbad:f=total/x:initial=1.75", 6, {{3, 4, 5}, {1, 4, 5}, {1, 4, 5}, {1, 4, 5}}},
        {"cpbad:f=total/x", 6, {{3, 4, 5}, {1, 3, 4}, {1, 3, 4}, {1, 3, 4}}},
    };
    for (auto const& column : columns) {
        SCOPED_TRACE(column.spec);
        auto expected = same;
        expected.insert(expected.end(), column.last_four.begin(), column.last_four.end());
        std::uint64_t misses = 0;
        EXPECT_EQ(steps_of_figure_4(column.spec, misses), expected);
        EXPECT_EQ(misses, column.misses);
    }
}

/// Algorithm 1 and equations 1 and 2 line by line; each victim is found by a full scan.
class Algorithm1 {
public:
    struct Reading {
        double initial;
        std::string f, boost;
        double lambda;
        std::string equal, first, size, log;

        std::string spec() const {
            return "cpbad:initial=" + std::to_string(initial) + ":f=" + f + ":boost=" + boost +
                   ":lambda=" + std::to_string(lambda) + ":equal=" + equal + ":first=" + first + ":size=" + size + ":log=" + log;
        }
    };

    explicit Algorithm1(Reading reading) : reading_(std::move(reading)) {}

    void requested() { ++count_total_; }
    void put(Slot slot, Bytes size) { held_[slot] = {.ad_value = reading_.initial, .last = count_total_, .size = size}; }
    void hit(Slot slot) {
        auto& obj = held_.at(slot);
        auto const now = static_cast<double>(count_total_ - obj.last);
        if (obj.freq == 1) {
            obj.avg_accintvl = static_cast<float>(now);
            if (reading_.first == "twice") ++obj.freq;
            obj.ad_value = inverse(now);
        } else {
            double const avg = obj.avg_accintvl;
            if (now > avg) {
                obj.ad_value = obj.ad_value * reading_.lambda * avg / (avg + now);
                obj.avg_accintvl = static_cast<float>(now);
            } else {
                double const above = reading_.boost == "printed" ? now : avg;
                if (now < avg || reading_.equal == "heats") obj.ad_value *= 1 + reading_.lambda * (above / (avg + now));
                obj.avg_accintvl = static_cast<float>((avg * obj.freq + now) / (obj.freq + 1));
            }
        }
        obj.last = count_total_;
        ++obj.freq;
    }
    void resized(Slot slot, Bytes size) { held_.at(slot).size = size; }
    void removed(Slot slot) { held_.erase(slot); }
    Slot victim() const {
        auto lowest = held_.begin();
        for (auto it = held_.begin(); it != held_.end(); ++it) {
            double one = value(it->second), other = value(lowest->second);
            if (one < other || (one == other && it->second.last < lowest->second.last)) lowest = it;
        }
        return lowest == held_.end() ? no_slot : lowest->first;
    }
    bool holds(Slot slot) const { return held_.contains(slot); }
    Bytes size(Slot slot) const { return held_.at(slot).size; }

private:
    struct Object {
        double ad_value;
        std::uint64_t last;
        Bytes size;
        std::uint32_t freq = 1;
        float avg_accintvl = 0;
    };
    double inverse(double x) const {
        if (reading_.f == "1/x") return 1 / x;
        return static_cast<double>(reading_.f == "M/x" ? held_.size() : count_total_) / x;
    }
    double value(Object const& obj) const {
        double sign = reading_.size == "none" ? 0 : reading_.size == "plus" ? 1 : -1;
        double base = reading_.log == "e" ? 1 : std::log(reading_.log == "2" ? 2 : 10);
        return obj.ad_value + sign / base * std::log(static_cast<double>(obj.size));
    }

    Reading reading_;
    std::map<Slot, Object> held_;
    std::uint64_t count_total_ = 0;
};

/// Random lookups, mostly of few keys; the policy's victim must equal the model's at every eviction.
void expect_victims_of(Algorithm1::Reading const& reading, std::uint64_t seed, int lookups) {
    auto policy = make(reading.spec(), {.capacity = 1 * MiB});
    ASSERT_NE(policy, nullptr) << reading.spec();
    Algorithm1 model(reading);
    std::mt19937_64 random(seed);
    constexpr Bytes sizes[] = {1, 100, 100, 1000, 1024, 3000, 1 << 20};
    auto remove = [&](Slot slot, Left why) { policy->removed(slot, why), model.removed(slot); };
    for (int lookup = 0; lookup < lookups; ++lookup) {
        policy->requested(0), model.requested();
        auto slot = static_cast<Slot>(std::min(random() % 60, random() % 60));
        auto size = sizes[random() % std::size(sizes)];
        if (model.holds(slot)) {
            model.hit(slot), policy->hit(slot, model.size(slot));
        } else {
            policy->inserted(slot, slot, size), model.put(slot, size);
        }
        auto what = random() % 100;
        if (what < 4) policy->resized(slot, size), model.resized(slot, size);
        if (what >= 4 && what < 8) remove(slot, what < 6 ? Left::replaced : Left::purged);
        if (what >= 80) {
            ASSERT_EQ(policy->victim(), model.victim()) << reading.spec() << " at lookup " << lookup;
            // Sometimes asks for a victim without an eviction.
            if (what < 98 && policy->victim() != no_slot) remove(policy->victim(), Left::evicted);
        }
    }
}

TEST(Cpbad, evicts_as_algorithm_1_in_every_reading) {
    std::uint64_t seed = 0;
    for (char const* f : {"1/x", "M/x", "total/x"})
        for (char const* boost : {"printed", "corrected"})
            for (char const* equal : {"heats", "stays"})
                for (char const* first : {"once", "twice"})
                    for (char const* size : {"none", "plus", "minus"})
                        for (char const* log : {"e", "2", "10"})
                            expect_victims_of({1, f, boost, 0.8, equal, first, size, log}, ++seed, 3000);
}

TEST(Cpbad, evicts_as_algorithm_1_for_other_numbers) {
    for (double initial : {0.001, 1.75, 500.0})
        for (double lambda : {0.1, 0.6, 1.0})
            expect_victims_of({initial, "total/x", "printed", lambda, "heats", "once", "none", "e"}, 7, 20'000);
}

TEST(Cpbad, as_it_is_named_without_settings) {
    auto defaults = make("cpbad", {.capacity = 1000});
    auto spelled = make("cpbad:initial=1:f=total/x:boost=corrected:lambda=0.8:"
                        "equal=heats:first=once:size=none:log=e",
                        {});
    Replay one(*defaults, 1000), other(*spelled, 1000);
    std::mt19937_64 random(11);
    for (int i = 0; i < 20'000; ++i) {
        auto key = std::min(random() % 300, random() % 300);
        one.request(key, 20), other.request(key, 20);
    }
    EXPECT_EQ(one.evicted, other.evicted);
    EXPECT_EQ(read_spec("cpbad:f=2/x").fault_text(), "cpbad: \"f\": \"2/x\" is not one of 1/x, M/x, total/x");
    EXPECT_EQ(read_spec("cpbad:initial=0").fault_text(), "cpbad: \"initial\": \"0\" is not a number from 1e-09 to 1e+09");
}

/// Lookups as in a cache: each is followed by its hit.
void hit_after(Cpbad& cpbad, Slot slot, int interval) {
    for (int i = 0; i < interval; ++i) cpbad.requested(0);
    cpbad.hit(slot, 100);
}

TEST(Cpbad, a_shorter_interval_heats_and_a_longer_one_cools) {
    Cpbad cpbad({});
    for (Slot slot = 0; slot < 3; ++slot) cpbad.inserted(slot, slot, 100);
    hit_after(cpbad, 0, 10);   // 10/10
    hit_after(cpbad, 1, 5);    // 15/15
    hit_after(cpbad, 2, 5);    // 20/20
    hit_after(cpbad, 0, 2);    // 12 after 10: cools
    EXPECT_EQ(cpbad.victim(), 0u);
    hit_after(cpbad, 1, 1);   // 8 after 15: heats
    cpbad.removed(0, Left::evicted);
    EXPECT_EQ(cpbad.victim(), 2u);
}

TEST(Cpbad, among_equals_the_least_recently_used_leaves) {
    Cpbad cpbad({});
    for (Slot slot = 0; slot < 4; ++slot) cpbad.inserted(slot, slot, 500);
    // Each interval covers the whole past, so all densities are 1 again.
    for (Slot slot : {0u, 2u, 1u, 3u}) hit_after(cpbad, slot, 1);
    for (Slot expected : {0u, 2u, 1u, 3u}) {
        EXPECT_EQ(cpbad.victim(), expected);
        cpbad.removed(expected, Left::purged);
    }
}

TEST(Cpbad, the_printed_sign_keeps_the_large_and_the_other_the_small) {
    auto victim = [](char const* spec) {
        auto cpbad = make(spec, {.capacity = 1 * GiB});
        for (Slot slot = 0; slot < 3; ++slot) cpbad->inserted(slot, slot, 1000 + slot);
        return cpbad->victim();
    };
    EXPECT_EQ(victim("cpbad:size=none"), 0u);
    EXPECT_EQ(victim("cpbad:size=plus"), 0u);
    EXPECT_EQ(victim("cpbad:size=minus"), 2u);
}

TEST(Cpbad, a_new_size_counts_where_sizes_do) {
    for (char const* spec : {"cpbad:size=minus", "cpbad"}) {
        auto cpbad = make(spec, {});
        for (Slot slot = 0; slot < 3; ++slot) cpbad->inserted(slot, slot, 1000);
        cpbad->resized(1, 5 * GiB);
        EXPECT_EQ(cpbad->victim(), std::string_view(spec) == "cpbad" ? 0u : 1u);
    }
}

TEST(Cpbad, no_density_is_ever_zero_infinite_or_unordered) {
    // Intervals of 0 lookups, then thousands of equal intervals, then ever longer ones.
    for (char const* spec : {"cpbad", "cpbad:f=1/x:boost=printed:size=minus", "cpbad:f=M/x:lambda=1:size=plus"}) {
        SCOPED_TRACE(spec);
        auto cpbad = make(spec, {});
        for (Slot slot = 0; slot < 3; ++slot) cpbad->inserted(slot, slot, slot == 0 ? 0 : UINT64_MAX);
        for (int i = 0; i < 10'000; ++i) cpbad->hit(0, 0);
        EXPECT_NE(cpbad->victim(), 0u);
        auto hit_after = [&](int interval) {
            for (int lookup = 0; lookup < interval; ++lookup) cpbad->requested(0);
            cpbad->hit(0, 0);
        };
        for (int i = 1; i < 2'500; ++i) hit_after(i);
        cpbad->removed(1, Left::purged);
        cpbad->removed(2, Left::purged);
        cpbad->inserted(1, 1, 0);
        EXPECT_EQ(cpbad->victim(), 0u);
        // Equal intervals raise the density again.
        for (int i = 0; i < 2'500; ++i) hit_after(2'499);
        EXPECT_EQ(cpbad->victim(), 1u);
    }
}

TEST(Cpbad, keeps_what_is_denser_than_the_last_victim) {
    Cpbad cpbad({});
    for (Slot slot = 0; slot < 3; ++slot) cpbad.inserted(slot, slot, 100);
    EXPECT_TRUE(cpbad.keeps(1));
    hit_after(cpbad, 2, 10);
    hit_after(cpbad, 2, 5);
    cpbad.removed(0, Left::evicted);
    EXPECT_FALSE(cpbad.keeps(0));
    EXPECT_FALSE(cpbad.keeps(1));
    EXPECT_TRUE(cpbad.keeps(2));
}

TEST(Cpbad, needs_32_bytes_a_slot_and_40_with_sizes) {
    auto bytes = [](char const* spec) {
        auto cpbad = make(spec, {});
        for (Slot slot = 0; slot < 100'000; ++slot) cpbad->inserted(slot, slot, 1);
        return static_cast<double>(cpbad->metadata_bytes()) / 100'000;
    };
    EXPECT_LT(bytes("cpbad"), 33);
    EXPECT_LT(bytes("cpbad:size=minus"), 41);
}

}   // namespace
}   // namespace garner::policy
