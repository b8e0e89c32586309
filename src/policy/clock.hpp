// CLOCK: FIFO that gives those used since they last came round another turn.
#pragma once
#include <array>

#include "policy/options.hpp"
#include "policy/policy.hpp"
#include "policy/queues.hpp"

namespace garner::policy {

/// The hand takes the oldest: one without uses leaves, any other loses a use and is the newest again (Corbató 1968;
/// with more than one bit, generalised CLOCK: Smith 1978). A newcomer has no uses. A hit is O(1) and writes one byte;
/// victim() pays one step for each use it takes away. 9 bytes a slot.
class Clock final : public ReplacementPolicy {
public:
    static constexpr std::array settings{
        Setting{.name = "bits", .what = "of the count of uses", .initial = 1, .least = 1, .most = 3},
    };

    explicit Clock(Options const&);

    void inserted(Slot, Fingerprint, Bytes size) override;
    void hit(Slot, Bytes size) override;
    void resized(Slot, Bytes size) override;
    void removed(Slot, Left) override;
    Slot victim() override;
    /// True while it has another turn.
    bool keeps(Slot) const override;
    Bytes metadata_bytes() const override;

private:
    using Uses = std::uint8_t;
    bool held(Slot slot) const { return uses_.covers(slot) && uses_[slot] >= unused; }

    static constexpr Uses unused = 1;   // 0 is a slot that is not held
    Uses most_;
    Queues queues_;
    Queue held_;
    SlotArray<Uses> uses_;
};

}  // namespace garner::policy
