// LRU: evicts the least recently used object.
#pragma once
#include "policy/options.hpp"
#include "policy/policy.hpp"
#include "policy/slots.hpp"
#include "util/check.hpp"

namespace garner::policy {

/// Every call is O(1). 8 bytes a slot.
class Lru final : public ReplacementPolicy {
public:
    explicit Lru(Options const&) {
        ring_.cover(root);
        ring_[root] = {root, root};
    }

    void inserted(Slot slot, Fingerprint, Bytes) override {
        check(slot != no_slot && !held(slot));
        ring_.cover(std::size_t{slot} + 1);
        link_newest(slot + 1);
    }
    void hit(Slot slot, Bytes) override {
        check(held(slot));
        unlink(slot + 1);
        link_newest(slot + 1);
    }
    /// Does not count as a use: the order stays.
    void resized(Slot slot, Bytes) override { check(held(slot)); }
    void removed(Slot slot, Left) override {
        check(held(slot));
        unlink(slot + 1);
        ring_[slot + 1] = {};
    }
    Slot victim() override {
        Index const oldest = ring_[root].newer;
        return oldest == root ? no_slot : oldest - 1;
    }
    bool keeps(Slot slot) const override { return held(slot); }
    Bytes metadata_bytes() const override { return sizeof *this + ring_.metadata_bytes(); }

private:
    // A ring in order of use. Index 0 is its root, slot s has index s + 1: no list end to test for.
    using Index = std::uint32_t;
    static constexpr Index root = 0;
    static constexpr Index nowhere = UINT32_MAX;
    struct Links {
        Index older = nowhere;
        Index newer = nowhere;
    };

    bool held(Slot slot) const {
        auto const index = std::size_t{slot} + 1;
        return ring_.covers(index) && ring_[index].newer != nowhere;
    }
    void link_newest(Index index) {
        Index const newest = ring_[root].older;
        ring_[index] = {.older = newest, .newer = root};
        ring_[newest].newer = index;
        ring_[root].older = index;
    }
    void unlink(Index index) {
        auto const [older, newer] = ring_[index];
        ring_[older].newer = newer;
        ring_[newer].older = older;
    }

    SlotArray<Links> ring_;
};

}   // namespace garner::policy
