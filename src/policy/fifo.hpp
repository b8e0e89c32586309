// FIFO: who came first leaves first, used or not.
#pragma once
#include "policy/options.hpp"
#include "policy/policy.hpp"
#include "policy/queues.hpp"

namespace garner::policy {

/// Every call is O(1); a hit changes nothing. 8 bytes a slot.
class Fifo final : public ReplacementPolicy {
public:
    explicit Fifo(Options const&) {}

    void inserted(Slot, Fingerprint, Bytes size) override;
    void hit(Slot, Bytes size) override;
    void resized(Slot, Bytes size) override;
    void removed(Slot, Left) override;
    Slot victim() override;
    /// True while it is held: its turn is not yet.
    bool keeps(Slot) const override;
    Bytes metadata_bytes() const override;

private:
    Queues queues_;
    Queue held_;
};

}  // namespace garner::policy
