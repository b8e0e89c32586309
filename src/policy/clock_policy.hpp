// CLOCK: FIFO with a second chance for objects used since the hand last passed.
#pragma once
#include <array>

#include "policy/options.hpp"
#include "policy/policy.hpp"
#include "policy/queues.hpp"
#include "util/check.hpp"

namespace garner::policy {

/// The hand looks at the oldest object: without uses it is evicted; otherwise it loses a use and becomes the newest
/// again (Corbató 1968; with more than one bit, generalised CLOCK: Smith 1978). A new object has no uses. A hit is
/// O(1) and writes one byte; victim() takes one step for each use it removes. 9 bytes a slot.
class Clock final : public ReplacementPolicy {
public:
    static constexpr std::array settings{
        Setting{.name = "bits", .what = "size of the use counter, in bits", .initial = 1, .least = 1, .most = 3},
    };

    explicit Clock(Options const& options)
        : most_(static_cast<Uses>(unused + (1u << static_cast<unsigned>(options.value(settings, 0))) - 1)) {}

    void inserted(Slot slot, Fingerprint, Bytes) override {
        queues_.push(held_, slot);
        uses_.cover(slot);
        uses_[slot] = unused;
    }
    void hit(Slot slot, Bytes) override {
        check(held(slot));
        if (uses_[slot] < most_) ++uses_[slot];
    }
    void resized(Slot slot, Bytes) override { check(held(slot)); }
    void removed(Slot slot, Left) override {
        queues_.remove(held_, slot);
        uses_[slot] = 0;
    }
    Slot victim() override {
        while (!held_.empty() && uses_[held_.oldest] > unused) {
            --uses_[held_.oldest];
            queues_.move(held_, held_, held_.oldest);
        }
        return held_.oldest;
    }
    /// True while it has another chance.
    bool keeps(Slot slot) const override { return held(slot) && uses_[slot] > unused; }
    Bytes metadata_bytes() const override { return sizeof *this + queues_.metadata_bytes() + uses_.metadata_bytes(); }

private:
    using Uses = std::uint8_t;
    static constexpr Uses unused = 1;   // 0 is a slot that is not held
    bool held(Slot slot) const { return uses_.covers(slot) && uses_[slot] >= unused; }

    Uses most_;
    Queues queues_;
    Queue held_;
    SlotArray<Uses> uses_;
};

}   // namespace garner::policy
