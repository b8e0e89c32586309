#include "policy/fifo.hpp"

#include "util/check.hpp"

namespace garner::policy {

void Fifo::inserted(Slot slot, Fingerprint, Bytes) { queues_.push(held_, slot); }

void Fifo::hit(Slot slot, Bytes) { check(queues_.contains(slot)); }

void Fifo::resized(Slot slot, Bytes) { check(queues_.contains(slot)); }

void Fifo::removed(Slot slot, Left) { queues_.remove(held_, slot); }

Slot Fifo::victim() { return held_.oldest; }

bool Fifo::keeps(Slot slot) const { return queues_.contains(slot); }

Bytes Fifo::metadata_bytes() const { return sizeof *this + queues_.metadata_bytes(); }

}  // namespace garner::policy
