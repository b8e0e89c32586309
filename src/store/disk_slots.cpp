#include "store/disk_slots.hpp"

#include <bit>

#include "store/disk_index.hpp"
#include "store/disk_sizes.hpp"
#include "util/check.hpp"

namespace garner::store::disk {

static_assert(Index::hash_bits_max == 36);

SlotTable::Slot SlotTable::find(Fingerprint hash) const {
    if (!buckets_) return policy::no_slot;
    for (Slot slot = heads_[bucket(known(hash))]; slot != none; slot = nodes_[slot].next)
        if (nodes_[slot].known == known(hash)) return slot;
    return policy::no_slot;
}

SlotTable::Slot SlotTable::insert(Fingerprint hash, Bytes bytes) {
    if (used_ == most_slots) return policy::no_slot;
    if (++used_ > load * buckets_) add_bucket();
    Slot const slot = take_slot();
    nodes_[slot].known = known(hash);
    nodes_[slot].size = size_class(bytes);
    link(slot);
    return slot;
}

void SlotTable::erase(Slot slot) {
    unlink(slot);
    nodes_[slot].size = 0;
    nodes_[slot].next = free_;
    free_ = slot;
    --used_;
}

Fingerprint SlotTable::hash(Slot slot) const { return Fingerprint{nodes_[slot].known} << 28; }

Bytes SlotTable::bytes(Slot slot) const { return typical_of_class(nodes_[slot].size); }

/// Uses the last of the known bits: the first ones select one of several tables.
std::uint32_t SlotTable::bucket(std::uint64_t known) const {
    auto const round = std::bit_ceil(buckets_);
    auto const at = static_cast<std::uint32_t>(known & (round - 1));
    return at < buckets_ ? at : at - round / 2;
}

/// Linear hashing: the new bucket takes its records from one existing bucket.
void SlotTable::add_bucket() {
    heads_.cover(buckets_);
    auto const added = buckets_++;
    heads_[added] = none;
    if (added == 0) return;
    auto const split = added - std::bit_floor(added);
    Slot slot = heads_[split];
    heads_[split] = none;
    while (slot != none) {
        Slot const next = nodes_[slot].next;
        link(slot);
        slot = next;
    }
}

void SlotTable::link(Slot slot) {
    auto& head = heads_[bucket(nodes_[slot].known)];
    nodes_[slot].next = head;
    head = slot;
}

void SlotTable::unlink(Slot slot) {
    check(slot < end_ && nodes_[slot].size != 0);
    auto& head = heads_[bucket(nodes_[slot].known)];
    if (head == slot) {
        head = nodes_[slot].next;
        return;
    }
    Slot before = head;
    while (nodes_[before].next != slot) before = nodes_[before].next;
    nodes_[before].next = nodes_[slot].next;
}

SlotTable::Slot SlotTable::take_slot() {
    if (free_ == none) {
        nodes_.cover(end_);
        return end_++;
    }
    Slot const slot = free_;
    free_ = nodes_[slot].next;
    return slot;
}

}   // namespace garner::store::disk
