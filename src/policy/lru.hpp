// LRU: the least recently used leaves first.
#pragma once
#include "policy/options.hpp"
#include "policy/policy.hpp"
#include "policy/slots.hpp"

namespace garner::policy {

/// Every call is O(1). 8 bytes a slot.
class Lru final : public ReplacementPolicy {
public:
    explicit Lru(Options const&);

    void inserted(Slot, Fingerprint, Bytes size) override;
    void hit(Slot, Bytes size) override;
    /// A new size is not a use: the order stays.
    void resized(Slot, Bytes size) override;
    void removed(Slot, Left) override;
    Slot victim() override;
    bool keeps(Slot) const override;
    Bytes metadata_bytes() const override;

private:
    // A ring in order of use. Place 0 is its root, slot s lives in place s + 1: no list end to test for.
    using Place = std::uint32_t;
    static constexpr Place root = 0;
    static constexpr Place nowhere = UINT32_MAX;
    struct Links {
        Place older = nowhere;
        Place newer = nowhere;
    };

    bool held(Slot) const;
    void link_newest(Place);
    void unlink(Place);

    SlotArray<Links> ring_;
};

}  // namespace garner::policy
