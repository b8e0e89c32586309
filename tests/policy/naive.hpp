// A policy as defined: each victim is found by a full scan.
#pragma once
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "policy/policy.hpp"

namespace garner::policy {

/// Evicts the lowest key, and among equal keys the least recently used. `Key` computes an object's key from (age L, f, size).
template <class Key>
class Naive {
public:
    void inserted(Slot slot, Bytes size) {
        held_[slot] = {.size = size, .hits = 1, .used = ++uses_, .key = 0};
        value(held_[slot]);
    }
    void hit(Slot slot) {
        auto& object = held_.at(slot);
        ++object.hits;
        object.used = ++uses_;
        value(object);
    }
    void resized(Slot slot, Bytes size) {
        held_.at(slot).size = size;
        value(held_.at(slot));
    }
    void removed(Slot slot, Left why) {
        if (why == Left::evicted) age_ = held_.at(slot).key;
        held_.erase(slot);
    }
    Slot victim() const {
        Slot lowest = no_slot;
        for (auto const& [slot, object] : held_)
            if (lowest == no_slot || object.below(held_.at(lowest))) lowest = slot;
        return lowest;
    }
    Bytes size(Slot slot) const { return held_.at(slot).size; }
    bool holds(Slot slot) const { return held_.contains(slot); }

private:
    struct Object {
        Bytes size;
        std::uint64_t hits, used;
        double key;
        bool below(Object const& other) const { return key != other.key ? key < other.key : used < other.used; }
    };
    void value(Object& object) { object.key = Key{}(age_, object.hits, object.size); }

    std::map<Slot, Object> held_;
    std::uint64_t uses_ = 0;
    double age_ = 0;
};

/// 100,000 random steps: the policy's victim must equal the model's at every eviction, and so must admission if the policy decides
/// it. Few sizes, so that many keys tie. Each slot number is also its fingerprint.
template <class Model>
void expect_the_victims_of(Model& naive, ReplacementPolicy& policy, std::uint64_t seed, Slot slots = 120) {
    std::mt19937_64 random(seed);
    constexpr Bytes sizes[] = {1, 100, 100, 1000, 1024, 3000, 1 << 20};
    auto size = [&] { return sizes[random() % std::size(sizes)]; };
    auto remove = [&](Slot slot, Left why) { policy.removed(slot, why), naive.removed(slot, why); };
    for (int step = 0; step < 100'000; ++step) {
        auto slot = static_cast<Slot>(random() % slots);
        auto what = random() % 100;
        if constexpr (requires { naive.requested(slot); })
            if (!naive.holds(slot) || what < 70) policy.requested(slot), naive.requested(slot);
        if (!naive.holds(slot)) {
            auto bytes = size();
            if constexpr (requires { naive.admits(slot, bytes, bytes); })
                ASSERT_EQ(policy.admits(slot, bytes, bytes), naive.admits(slot, bytes, bytes)) << "at step " << step;
            for (auto room = random() % 6; room < 3 && naive.victim() != no_slot; ++room) {
                ASSERT_EQ(policy.victim(), naive.victim()) << "at step " << step;
                remove(policy.victim(), Left::evicted);
            }
            policy.inserted(slot, slot, bytes), naive.inserted(slot, bytes);
        } else if (what < 70) {
            naive.hit(slot), policy.hit(slot, naive.size(slot));
        } else if (what < 74) {
            auto bytes = size();
            policy.resized(slot, bytes), naive.resized(slot, bytes);
        } else if (what < 80) {
            remove(slot, what < 77 ? Left::replaced : Left::purged);
        } else {
            ASSERT_EQ(policy.victim(), naive.victim()) << "at step " << step;
            // Sometimes asks for a victim without an eviction.
            if (what < 95) remove(policy.victim(), Left::evicted);
        }
    }
}

template <class Key>
void expect_the_naive_victims(ReplacementPolicy& policy, std::uint64_t seed) {
    Naive<Key> naive;
    expect_the_victims_of(naive, policy, seed);
}

}   // namespace garner::policy
