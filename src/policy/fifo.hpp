// FIFO: evicts the oldest object, used or not.
#pragma once
#include "policy/options.hpp"
#include "policy/policy.hpp"
#include "policy/queues.hpp"
#include "util/check.hpp"

namespace garner::policy {

/// Every call is O(1); a hit changes nothing. 8 bytes a slot.
class Fifo final : public ReplacementPolicy {
public:
    explicit Fifo(Options const&) {}

    void inserted(Slot slot, Fingerprint, Bytes) override { queues_.push(held_, slot); }
    void hit(Slot slot, Bytes) override { check(queues_.contains(slot)); }
    void resized(Slot slot, Bytes) override { check(queues_.contains(slot)); }
    void removed(Slot slot, Left) override { queues_.remove(held_, slot); }
    Slot victim() override { return held_.oldest; }
    bool keeps(Slot slot) const override { return queues_.contains(slot); }
    Bytes metadata_bytes() const override { return sizeof *this + queues_.metadata_bytes(); }

private:
    Queues queues_;
    Queue held_;
};

}   // namespace garner::policy
